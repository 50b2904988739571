import { stat } from 'node:fs/promises';
import sqlite3 from 'sqlite3';
import { storeRefused, StoreUnusable } from './database.errors.js';
import {
  EXTENSION_MIGRATIONS_TABLE,
  notedMigrations,
  notedNames,
  unknownNames,
  type ExtensionMigrations,
} from './extension-migrations.js';
import { PlainConnection } from './plain-connection.js';
import { ensurePrivateFile } from './private-files.js';

/** "LMSP" in ASCII, at byte 68 of the file: tells our store from any other SQLite file. */
export const APPLICATION_ID = 0x4c4d5350;

/** Table in which TypeORM notes the migrations that ran. */
export const MIGRATIONS_TABLE = 'migrations';

/** The migrations that a program has. */
export interface KnownMigrations {
  /** Names of the service's own, oldest first. */
  service: readonly string[];
  extensions: readonly ExtensionMigrations[];
}

/** Names of the migrations that a store has, oldest first. */
export interface AppliedMigrations {
  service: string[];
  /** Also of extensions that are no longer there. */
  extensions: string[];
}

/**
 * Makes the file usable or says why it is not, before anything opens it for writing. Resolves with the migrations that
 * its schema has, none for a new file.
 */
export async function prepareStoreFile(file: string, known: KnownMigrations): Promise<AppliedMigrations> {
  if (await isEmpty(file)) {
    await createStoreFile(file);
    return { service: [], extensions: [] };
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

async function inspect(file: string, known: KnownMigrations): Promise<AppliedMigrations> {
  const connection = await PlainConnection.open(file, sqlite3.OPEN_READONLY);
  try {
    const [header] = await connection.rows<{ application_id: number }>('PRAGMA application_id');
    if (header?.application_id !== APPLICATION_ID) {
      throw new StoreUnusable(file, 'it is not a store of this program');
    }
    const applied = {
      service: await notedMigrations(connection, MIGRATIONS_TABLE),
      extensions: await notedMigrations(connection, EXTENSION_MIGRATIONS_TABLE),
    };
    refuseNewer(file, applied, known);
    // Reads the whole file, so only before a migration: a damaged store must not be rebuilt into a plausible one.
    if (isBehind(applied, known)) await quickCheck(file);
    return applied;
  } finally {
    await connection.close();
  }
}

function refuseNewer(file: string, applied: AppliedMigrations, { service, extensions }: KnownMigrations): void {
  const unknown = applied.service.filter((name) => !service.includes(name));
  if (unknown.length > 0) {
    const has = `its schema has ${unknown.join(', ')}, this program ends at ${service.at(-1)}`;
    throw new StoreUnusable(file, `it was written by a newer program (${has})`);
  }
  const newer = unknownNames(applied.extensions, extensions);
  if (newer.length > 0) throw new StoreUnusable(file, `a newer version of an extension wrote ${newer.join(', ')}`);
}

/** Whether a store with content waits for migrations. */
export function isBehind(applied: AppliedMigrations, known: KnownMigrations): boolean {
  if (applied.service.length === 0) return false;
  return applied.service.length < known.service.length || pendingOfExtensions(applied, known);
}

export function pendingOfExtensions(applied: AppliedMigrations, { extensions }: KnownMigrations): boolean {
  return notedNames(extensions).some((name) => !applied.extensions.includes(name));
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
