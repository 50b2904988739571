import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How retention finds what it began, and what is still in use; and a task that has not ended never loses its log. */
const STATEMENTS = [
  `CREATE INDEX "tasks_expired" ON "tasks" ("events_expired_at") WHERE "events_expired_at" IS NOT NULL`,
  `CREATE INDEX "responses_previous" ON "responses" ("previous_response_id", "finished_at") WHERE "previous_response_id" IS NOT NULL`,
  `CREATE TRIGGER "tasks_expire_finished" BEFORE UPDATE OF "events_expired_at" ON "tasks"
    WHEN NEW."events_expired_at" IS NOT NULL AND NEW."finished_at" IS NULL
    BEGIN SELECT RAISE(ABORT, 'unfinished task'); END`,
];

export class IndexRetention1796200000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TRIGGER "tasks_expire_finished"`);
    await runner.query(`DROP INDEX "responses_previous"`);
    await runner.query(`DROP INDEX "tasks_expired"`);
  }
}
