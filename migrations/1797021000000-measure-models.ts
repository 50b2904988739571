import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a model's files say of the memory it takes; null until they are read again. */
const COLUMNS = ['weights_memory_bytes', 'kv_token_bytes'];

export class MeasureModels1797021000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const column of COLUMNS) await runner.query(`ALTER TABLE "models" ADD COLUMN "${column}" integer`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const column of COLUMNS) await runner.query(`ALTER TABLE "models" DROP COLUMN "${column}"`);
  }
}
