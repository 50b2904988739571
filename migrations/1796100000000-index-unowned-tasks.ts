import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Running tasks that wait to be taken up are claimed in order, however many a restart has left (WIRE B6). */
export class IndexUnownedTasks1796100000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX "tasks_unowned" ON "tasks" ("type", "model", "position") WHERE "status" = 'running' AND "owner" IS NULL`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX "tasks_unowned"');
  }
}
