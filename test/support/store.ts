import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store, type StoreOptions, type Tx } from '../../src/database/index.js';
import { ENTITIES } from '../../src/entities.js';
import { MIGRATIONS } from '../../migrations/index.js';

export interface TestStore {
  store: Store;
  dataDir: string;
  /** Closes the store and removes its directory. */
  close(): Promise<void>;
}

export async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'lmsp-test-'));
}

/** The options of the real service on a directory of its own. */
export function storeOptions(dataDir: string, overrides: Partial<StoreOptions> = {}): StoreOptions {
  return {
    dataDir,
    busyTimeoutMs: 5000,
    unitTimeoutSeconds: 10,
    ballastBytes: 0,
    entities: ENTITIES,
    migrations: MIGRATIONS,
    ...overrides,
  };
}

/** A real store with every table, in a directory that `close` removes. */
export async function openTestStore(overrides: Partial<StoreOptions> = {}): Promise<TestStore> {
  const dataDir = overrides.dataDir ?? (await temporaryDirectory());
  const store = await openStore(storeOptions(dataDir, overrides));
  const close = async (): Promise<void> => {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { store, dataDir, close };
}

/** A client row, since nearly every table refers to one. */
export async function insertClient(tx: Tx, id = 'cli_test'): Promise<string> {
  await tx.execute('INSERT INTO clients (id, name, owner, scopes, created_at) VALUES (?, ?, 0, ?, ?)', [
    id,
    id,
    '[]',
    1,
  ]);
  return id;
}

/** A task row with the columns a test cares about; the rest as a new task has them. */
export async function insertTask(tx: Tx, columns: Record<string, unknown> & { id: string }): Promise<void> {
  const row = { ...NEW_TASK, ...columns };
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  await tx.execute(`INSERT INTO tasks (${names.join(', ')}) VALUES (${marks})`, Object.values(row));
}

const NEW_TASK = {
  type: 'response',
  client_id: 'cli_test',
  status: 'queued',
  on_restart: 'retry',
  background: 1,
  attempt: 0,
  interruptions: 0,
  max_interruptions: 3,
  start_count: 0,
  suspect: 0,
  last_sequence_number: 1,
  metadata: '{}',
  created_at: 1,
  updated_at: 1,
};
