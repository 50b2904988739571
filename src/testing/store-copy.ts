import { cpSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Store } from '../database/index.js';

/** What belongs to the running process, or can be made anew. */
const LEFT_OUT: readonly string[] = ['lmsp.lock', 'lmsp.sqlite-shm', 'service.json', 'runners', 'ballast', 'backups'];

/**
 * A data directory as `kill -9` leaves it, in a new folder: the database with its write-ahead log between two transactions, and the
 * files beside it.
 */
export async function copyOfData(store: Store, dataDir: string): Promise<string> {
  const copy = await temporaryFolder();
  // Nobody writes meanwhile, and no checkpoint moves pages; a synchronous copy is none of what the unit would wait for.
  await store.units.run(async () => {
    cpSync(dataDir, copy, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) });
  });
  return copy;
}

export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'lmsp-test-'));
}
