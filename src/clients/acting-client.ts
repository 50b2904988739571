import type { Tx } from '../database/index.js';
import { formerCounts } from './client-directory.js';
import { findClientRow, type ClientRow } from './client-record.js';
import type { Client } from './client.js';
import { clientNotFound, invalidApiKey } from './clients.errors.js';

/** Whoever asks, as the unit sees it: a token that was rotated away or revoked since does nothing more. */
export async function actingRow(tx: Tx, { id, tokenHash, scopes }: Client): Promise<ClientRow> {
  const row = await findClientRow(tx, id);
  if (!row || row.revoked_at !== null) throw invalidApiKey();
  // What it may do was said with this request; the row shows what was said last, perhaps with another.
  if (tokenHash === null && row.authority !== null) return { ...row, scopes: JSON.stringify(scopes) };
  if (row.token_hash === tokenHash) return row;
  if (row.former_token_hash === tokenHash && formerCounts(row)) return row;
  throw invalidApiKey();
}

/** Throws client_not_found for an unknown or a revoked one. */
export async function liveRow(tx: Tx, id: string): Promise<ClientRow> {
  const row = await findClientRow(tx, id);
  if (!row || row.revoked_at !== null) throw clientNotFound();
  return row;
}
