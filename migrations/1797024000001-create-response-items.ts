import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Items are referred to by their ids alone, which do not tell the response that holds them. */
export class CreateResponseItems1797024000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE "response_items" (
        "item_id" text NOT NULL,
        "response_id" text NOT NULL,
        CONSTRAINT "response_items_response" FOREIGN KEY ("response_id") REFERENCES "responses" ("id") ON DELETE CASCADE,
        CONSTRAINT "response_items_key" PRIMARY KEY ("item_id")
      ) STRICT, WITHOUT ROWID`,
    );
    await runner.query(`CREATE INDEX "response_items_of_response" ON "response_items" ("response_id")`);
    for (const items of [`json_each(r."input")`, `json_each(r."body", '$.output')`]) {
      await runner.query(
        `INSERT OR IGNORE INTO "response_items" ("item_id", "response_id")
         SELECT e.value->>'id', r."id" FROM "responses" r, ${items} e WHERE e.value->>'id' IS NOT NULL`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "response_items"');
  }
}
