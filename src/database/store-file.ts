import { stat } from 'node:fs/promises';
import sqlite3 from 'sqlite3';
import { storeRefused, StoreUnusable } from './database.errors.js';
import { PlainConnection } from './plain-connection.js';
import { ensurePrivateFile } from './private-files.js';

/** "LMSP" in ASCII, at byte 68 of the file: tells our store from any other SQLite file. */
export const APPLICATION_ID = 0x4c4d5350;

/** Table in which TypeORM notes the migrations that ran. */
export const MIGRATIONS_TABLE = 'migrations';

/**
 * Makes the file usable or says why it is not, before anything opens it for writing. Resolves with the migrations that
 * its schema has, none for a new file.
 * @param known names of the program's migrations, oldest first
 */
export async function prepareStoreFile(file: string, known: readonly string[]): Promise<string[]> {
  if (await isEmpty(file)) {
    await createStoreFile(file);
    return [];
  }
  try {
    return await inspect(file, known);
  } catch (error) {
    if (error instanceof StoreUnusable) throw error;
    throw storeRefused(file, 'it cannot be read', error);
  }
}

async function isEmpty(file: string): Promise<boolean> {
  try {
    const found = await stat(file);
    if (!found.isFile()) throw new StoreUnusable(file, 'it is not a file');
    return found.size === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}

/**
 * Both settings live in the file's header and `auto_vacuum` is silently ignored once WAL is on, which is the first
 * thing TypeORM does: so a plain connection writes the header first (OPERATE 0).
 */
async function createStoreFile(file: string): Promise<void> {
  await ensurePrivateFile(file);
  const connection = await PlainConnection.open(file, sqlite3.OPEN_READWRITE);
  try {
    await connection.rows('PRAGMA auto_vacuum = INCREMENTAL');
    await connection.rows(`PRAGMA application_id = ${APPLICATION_ID}`);
  } finally {
    await connection.close();
  }
}

async function inspect(file: string, known: readonly string[]): Promise<string[]> {
  const connection = await PlainConnection.open(file, sqlite3.OPEN_READONLY);
  try {
    const [header] = await connection.rows<{ application_id: number }>('PRAGMA application_id');
    if (header?.application_id !== APPLICATION_ID) {
      throw new StoreUnusable(file, 'it is not a store of this program');
    }
    const applied = await appliedMigrations(connection);
    const unknown = applied.filter((name) => !known.includes(name));
    if (unknown.length > 0) {
      throw new StoreUnusable(
        file,
        `it was written by a newer program (its schema has ${unknown.join(', ')}, this program ends at ${known.at(-1)})`,
      );
    }
    // Reads the whole file, so only before a migration: a damaged store must not be rebuilt into a plausible one.
    if (isBehind(applied, known)) await quickCheck(file);
    return applied;
  } finally {
    await connection.close();
  }
}

/** Whether a store with content waits for migrations. */
export function isBehind(applied: readonly string[], known: readonly string[]): boolean {
  return applied.length > 0 && applied.length < known.length;
}

async function appliedMigrations(connection: PlainConnection): Promise<string[]> {
  const tables = await connection.rows(
    `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '${MIGRATIONS_TABLE}'`,
  );
  if (tables.length === 0) return [];
  const rows = await connection.rows<{ name: string }>(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`);
  return rows.map((row) => row.name);
}

/** Throws StoreUnusable where the file has pages that cannot be. Takes about a second for a gigabyte. */
export async function quickCheck(file: string): Promise<void> {
  // A connection of its own: one that has used the file before may have remembered a better schema than is in it.
  const connection = await PlainConnection.open(file, sqlite3.OPEN_READONLY);
  try {
    const [row] = await connection.rows<{ quick_check: string }>('PRAGMA quick_check(1)');
    const found = String(row?.quick_check).replaceAll(/\s+/g, ' ');
    if (found !== 'ok') throw new StoreUnusable(file, `it is damaged (${found})`);
  } finally {
    await connection.close();
  }
}
