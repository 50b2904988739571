import type { Tx } from '../database/index.js';

/** Says which responses hold which items, for who refers to one by its id; they are gone with their response. */
export async function indexItems(
  tx: Tx,
  responses: readonly { responseId: string; items: readonly { id?: unknown }[] }[],
): Promise<void> {
  const rows = responses.flatMap(({ responseId, items }) => items.map(({ id }) => [id, responseId]));
  if (rows.length === 0) return;
  // An attempt that goes on names the items of the one before.
  await tx.execute(
    `INSERT OR IGNORE INTO response_items (item_id, response_id)
     SELECT value->>0, value->>1 FROM json_each(?) WHERE value->>0 IS NOT NULL`,
    [JSON.stringify(rows)],
  );
}
