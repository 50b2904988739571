import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tasks whose runner was lost run before others and alone (WIRE B6): each claim asks for them. */
export class IndexSuspectTasks1796400000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE INDEX "tasks_suspect" ON "tasks" ("type", "model", "position") WHERE "suspect" > 0 AND "finished_at" IS NULL`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX "tasks_suspect"');
  }
}
