import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What pairing and rotation write beside the first tables: who decided, for how long, and the token before this one. */
const COLUMNS = [
  `ALTER TABLE "clients" ADD "former_token_hash" text`,
  `ALTER TABLE "clients" ADD "former_expires_at" integer`,
  `ALTER TABLE "clients" ADD "former_ends_on_use" integer`,
  `ALTER TABLE "clients" ADD "created_by" text`,
  `CREATE UNIQUE INDEX "clients_former_token_hash" ON "clients" ("former_token_hash")`,
  `ALTER TABLE "pairings" ADD "decided_by" text`,
  `ALTER TABLE "pairings" ADD "token_expires_in" integer`,
];

export class ExtendClients1797000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of COLUMNS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const column of ['token_expires_in', 'decided_by']) {
      await runner.query(`ALTER TABLE "pairings" DROP COLUMN "${column}"`);
    }
    await runner.query('DROP INDEX "clients_former_token_hash"');
    for (const column of ['created_by', 'former_ends_on_use', 'former_expires_at', 'former_token_hash']) {
      await runner.query(`ALTER TABLE "clients" DROP COLUMN "${column}"`);
    }
  }
}
