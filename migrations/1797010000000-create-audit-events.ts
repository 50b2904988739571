import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who did what to the service: kept by a period of its own, and never changed. */
const STATEMENTS = [
  `CREATE TABLE "audit_events" (
    "position" integer PRIMARY KEY AUTOINCREMENT NOT NULL,
    "id" text NOT NULL,
    "at" integer NOT NULL,
    "actor" text,
    "action" text NOT NULL,
    "object" text,
    "outcome" text NOT NULL,
    "count" integer NOT NULL,
    "request_id" text,
    "address" text,
    "detail" text
  ) STRICT`,
  `CREATE UNIQUE INDEX "audit_events_id" ON "audit_events" ("id")`,
  `CREATE INDEX "audit_events_at" ON "audit_events" ("at")`,
  `CREATE INDEX "audit_events_action" ON "audit_events" ("action", "position")`,
  `CREATE TRIGGER "audit_events_immutable" BEFORE UPDATE ON "audit_events"
    WHEN TRUE BEGIN SELECT RAISE(ABORT, 'audit event is immutable'); END`,
];

export class CreateAuditEvents1797010000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "audit_events"');
  }
}
