import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Waiting tasks are claimed in turn over their clients: each claim asks for the oldest of each. */
export class IndexQueueByClient1797020000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX "tasks_queued_of_client" ON "tasks" ("type", "model", "client_id", "position") WHERE "status" = 'queued'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX "tasks_queued_of_client"');
  }
}
