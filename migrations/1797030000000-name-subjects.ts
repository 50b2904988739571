import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Clients that an authenticator outside of the service vouches for. */
export class NameSubjects1797030000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "clients" ADD COLUMN "authority" text');
    await runner.query('ALTER TABLE "clients" ADD COLUMN "subject" text');
    await runner.query('CREATE UNIQUE INDEX "clients_subject" ON "clients" ("authority", "subject")');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX "clients_subject"');
    await runner.query('ALTER TABLE "clients" DROP COLUMN "subject"');
    await runner.query('ALTER TABLE "clients" DROP COLUMN "authority"');
  }
}
