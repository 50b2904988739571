import type { StoreReader } from './store-reader.js';
import type { Tx } from './tx.js';

/*
 * Facts about the store that outlive the process, by key (S2a): who it is, when it was last alive. This file alone reads
 * and writes `service_config`; each key belongs to the module that names it.
 */

/** The stored value, or null. */
export async function readFact(from: Tx | StoreReader, key: string): Promise<string | null> {
  const [row] = await from.query<{ value: string }>('select value from service_config where key = ?', [key]);
  return row?.value ?? null;
}

/** Stores a value in the place of whatever was there. */
export async function writeFact(tx: Tx, key: string, value: string): Promise<void> {
  await tx.execute(
    `INSERT INTO service_config (key, value, updated_at) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
    [key, value, Date.now()],
  );
}

/** The stored value; `first` is stored where there is none yet. */
export async function keptFact(tx: Tx, key: string, first: string): Promise<string> {
  const stored = await readFact(tx, key);
  if (stored === null) await writeFact(tx, key, first);
  return stored ?? first;
}
