import { APPLICATION_ID } from './store-file.js';

type Query = (sql: string) => Promise<Array<Record<string, unknown>>>;

/** Per connection, so they are set at each start (STACK 2.3). Sizes: pages, bytes, kibibytes. */
const WRITER_SETTINGS = [
  'synchronous = FULL',
  'recursive_triggers = ON',
  'wal_autocheckpoint = 1000',
  'journal_size_limit = 67108864',
  'cache_size = -4000',
  // What a statement over many rows can be undone with: in a file it is a third of all that a unit writes.
  'temp_store = MEMORY',
] as const;

/**
 * What the promises of this service rest on. `recursive_triggers`: without it an INSERT OR REPLACE of a running task
 * passes the trigger that refuses to delete it. `synchronous` 2 is FULL: an accepted task survives power loss.
 */
function expectedPragmas(busyTimeoutMs: number): Record<string, unknown> {
  return {
    application_id: APPLICATION_ID,
    auto_vacuum: 2,
    journal_mode: 'wal',
    synchronous: 2,
    foreign_keys: 1,
    recursive_triggers: 1,
    busy_timeout: busyTimeoutMs,
  };
}

export async function setWriterPragmas(query: Query): Promise<void> {
  for (const setting of WRITER_SETTINGS) await query(`PRAGMA ${setting}`);
}

/** What differs from the expected, one phrase each; empty is right. SQLite ignores some settings without a word. */
export async function wrongPragmas(query: Query, busyTimeoutMs: number): Promise<string[]> {
  const wrong: string[] = [];
  for (const [name, expected] of Object.entries(expectedPragmas(busyTimeoutMs))) {
    const [row] = await query(`PRAGMA ${name}`);
    const found = row && Object.values(row)[0];
    if (found !== expected) wrong.push(`${name} is ${String(found)} instead of ${String(expected)}`);
  }
  return wrong;
}
