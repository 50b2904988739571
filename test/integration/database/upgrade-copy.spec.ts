import { copyFile, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import sqlite3 from 'sqlite3';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../../migrations/index.js';
import { openStore, StoreUnusable, type Store } from '../../../src/database/index.js';
import { PlainConnection } from '../../../src/database/plain-connection.js';
import { APPLICATION_ID } from '../../../src/database/store-file.js';
import { storeOptions, temporaryDirectory } from '../../support/store.js';

type Migration = new () => MigrationInterface;

/** A migration of its own name that runs some SQL. */
function migration(timestamp: number, ...statements: string[]): Migration {
  const made = class implements MigrationInterface {
    async up(runner: QueryRunner): Promise<void> {
      for (const statement of statements) await runner.query(statement);
    }
    async down(): Promise<void> {}
  };
  Object.defineProperty(made, 'name', { value: `AddNote${timestamp}` });
  return made;
}

const NOTE = migration(1999000000000, 'CREATE TABLE note (id integer PRIMARY KEY) STRICT');
const BREAKS = migration(1999000000001, 'CREATE NONSENSE');
const FROM = /\d+$/.exec(MIGRATIONS.at(-1)!.name)![0];

let dataDir: string;
let file: string;

beforeEach(async () => {
  dataDir = await temporaryDirectory();
  file = join(dataDir, 'lmsp.sqlite');
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

const openWith = (...later: Migration[]): Promise<Store> =>
  openStore(storeOptions(dataDir, { migrations: [...MIGRATIONS, ...later] }));

/** An older store with one row in it. */
async function older(): Promise<void> {
  const store = await openWith();
  await store.units.run((tx) =>
    tx.execute(`INSERT INTO service_config (key, value, updated_at) VALUES ('before', 'x', 1)`),
  );
  await store.close();
}

const copies = async (): Promise<string[]> => (await readdir(join(dataDir, 'backups')).catch(() => [])).sort();

async function look(path: string, sql: string): Promise<unknown> {
  const connection = await PlainConnection.open(path, sqlite3.OPEN_READONLY);
  const [row] = await connection.rows<Record<string, unknown>>(sql);
  await connection.close();
  return row && Object.values(row)[0];
}

describe('the copy before an upgrade (OPERATE 5.5)', () => {
  test('an older store is copied whole before it is migrated, for its owner only, and the start tells both', async () => {
    await older();
    const store = await openWith(NOTE);
    await store.close();
    const copy = join(dataDir, 'backups', `pre-0.1.0-from-${FROM}.db`);
    expect(store.upgrade).toMatchObject({ copy, migrations: [NOTE.name] });
    expect(await copies()).toEqual([basename(copy)]);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dataDir, 'backups'))).mode & 0o777).toBe(0o700);
    expect(await look(copy, `SELECT key FROM service_config`)).toBe('before');
    expect(await look(copy, `SELECT count(*) FROM sqlite_schema WHERE name = 'note'`)).toBe(0);
    expect(await look(copy, 'PRAGMA application_id')).toBe(APPLICATION_ID);
    expect(await look(copy, 'PRAGMA auto_vacuum')).toBe(2);
    expect(await look(copy, 'PRAGMA integrity_check')).toBe('ok');
  });

  test('what lay in the write-ahead log alone, as after a kill, is in the copy', async () => {
    await older();
    const store = await openWith();
    const reader = await PlainConnection.open(file, sqlite3.OPEN_READONLY);
    await reader.rows('SELECT count(*) FROM tasks');
    await store.units.run((tx) => tx.execute(`UPDATE service_config SET value = 'in the log'`));
    await store.close();
    await reader.close();
    expect((await stat(`${file}-wal`)).size).toBeGreaterThan(0);
    const upgraded = await openWith(NOTE);
    await upgraded.close();
    expect(await look(upgraded.upgrade!.copy, 'SELECT value FROM service_config')).toBe('in the log');
  });

  test('neither a new store nor one that is up to date is copied', async () => {
    await older();
    const store = await openWith();
    await store.close();
    expect(store.upgrade).toBeNull();
    expect(await copies()).toEqual([]);
  });

  test('a migration that fails names the copy, which brings the former version back', async () => {
    await older();
    const failed: unknown = await openWith(NOTE, BREAKS).catch((error: unknown) => error);
    const copy = join(dataDir, 'backups', `pre-0.1.0-from-${FROM}.db`);
    expect(failed).toBeInstanceOf(StoreUnusable);
    expect((failed as Error).message).toContain(`to go back to the former version, copy ${copy} over it`);
    await expect(openWith(), 'half upgraded').rejects.toThrow(/newer program/);
    await copyFile(copy, file);
    const store = await openWith();
    expect(await store.reader.query('SELECT key FROM service_config')).toEqual([{ key: 'before' }]);
    await store.close();
  });

  test('a start that goes on with a half-done upgrade leaves the copy of the whole store alone', async () => {
    await older();
    await openWith(NOTE, BREAKS).catch(() => undefined);
    const before = await readFile(join(dataDir, 'backups', `pre-0.1.0-from-${FROM}.db`));
    const mended = migration(1999000000001, 'CREATE TABLE mended (id integer PRIMARY KEY) STRICT');
    await (await openWith(NOTE, mended)).close();
    expect(await copies()).toEqual([`pre-0.1.0-from-${FROM}.db`, 'pre-0.1.0-from-1999000000000.db'].sort());
    expect((await readFile(join(dataDir, 'backups', `pre-0.1.0-from-${FROM}.db`))).equals(before)).toBe(true);
  });

  test('a migration that leaves a damaged store is not served: the check afterwards refuses it', async () => {
    await older();
    const damages = migration(
      1999000000000,
      'PRAGMA writable_schema = ON',
      `UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'clients')
         WHERE name = 'tasks_client'`,
    );
    const refused: unknown = await openWith(damages).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreUnusable);
    expect((refused as Error).message).toMatch(/damaged.*copy .*pre-0\.1\.0.* over it/);
  });

  test('the newest three copies are kept, and nothing else in the folder is touched', async () => {
    await older();
    await (await openWith(NOTE)).close();
    const folder = join(dataDir, 'backups');
    for (const [i, name] of ['pre-0.0.1-from-1.db', 'pre-0.0.2-from-2.db', 'pre-0.0.3-from-3.db'].entries()) {
      await writeFile(join(folder, name), '');
      await utimes(join(folder, name), i + 1, i + 1);
    }
    await writeFile(join(folder, 'lmsp-2026-01-01.db'), 'mine');
    await (await openWith(NOTE, migration(1999000000002, 'CREATE TABLE more (id integer PRIMARY KEY) STRICT'))).close();
    expect(await copies()).toEqual(
      [
        'lmsp-2026-01-01.db',
        'pre-0.0.3-from-3.db',
        `pre-0.1.0-from-${FROM}.db`,
        'pre-0.1.0-from-1999000000000.db',
      ].sort(),
    );
  });

  test('a copy that cannot be written stops the start as an ordinary error, and the store is not touched', async () => {
    await older();
    await writeFile(join(dataDir, 'backups'), 'a file in the way');
    const before = await readFile(file);
    const refused: unknown = await openWith(NOTE).catch((error: unknown) => error);
    expect(refused).not.toBeInstanceOf(StoreUnusable);
    expect((refused as Error).message).toMatch(/was left as it is: it could not be copied before its upgrade/);
    expect((await readFile(file)).equals(before)).toBe(true);
    await rm(join(dataDir, 'backups'));
    await (await openWith(NOTE)).close();
  });
});
