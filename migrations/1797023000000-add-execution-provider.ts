import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A model may name what computes it; NULL follows the settings. */
export class AddExecutionProvider1797023000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "models" ADD COLUMN "execution_provider" TEXT`);
    await runner.query(`ALTER TABLE "models" ADD COLUMN "device_id" INTEGER`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "models" DROP COLUMN "device_id"');
    await runner.query('ALTER TABLE "models" DROP COLUMN "execution_provider"');
  }
}
