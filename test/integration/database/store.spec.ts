import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open as openFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sqlite3 from 'sqlite3';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../../migrations/index.js';
import { DataDirectoryInUse, openStore, StoreUnusable } from '../../../src/database/index.js';
import { PlainConnection } from '../../../src/database/plain-connection.js';
import { APPLICATION_ID } from '../../../src/database/store-file.js';
import { distEntry } from '../../support/dist-entry.js';
import { storeOptions, temporaryDirectory } from '../../support/store.js';

class AddNote1999000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE note (id integer PRIMARY KEY) STRICT');
  }
  async down(): Promise<void> {}
}

class Breaks1999000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE half (id integer PRIMARY KEY) STRICT');
    await runner.query('CREATE NONSENSE');
  }
  async down(): Promise<void> {}
}

let root: string;
let dataDir: string;
let file: string;

beforeEach(async () => {
  root = await temporaryDirectory();
  dataDir = join(root, 'data');
  file = join(dataDir, 'lmsp.sqlite');
});

afterEach(() => rm(root, { recursive: true, force: true }));

const openHere = (migrations: readonly (new () => MigrationInterface)[] = MIGRATIONS) =>
  openStore(storeOptions(dataDir, { migrations }));

const create = async (migrations?: readonly (new () => MigrationInterface)[]): Promise<void> =>
  (await openHere(migrations)).close();

async function look<R>(sql: string): Promise<R[]> {
  const connection = await PlainConnection.open(file, sqlite3.OPEN_READONLY);
  try {
    return await connection.rows<R>(sql);
  } finally {
    await connection.close();
  }
}

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('a new store', () => {
  test('lies in a directory and files that only their owner may read', async () => {
    const store = await openHere();
    const modes: Record<string, number> = {};
    for (const name of await readdir(dataDir)) modes[name] = await modeOf(join(dataDir, name));
    const directory = await modeOf(dataDir);
    await store.close();
    expect(directory).toBe(0o700);
    expect(modes).toEqual({
      'lmsp.lock': 0o600,
      'lmsp.sqlite': 0o600,
      'lmsp.sqlite-shm': 0o600,
      'lmsp.sqlite-wal': 0o600,
    });
  });

  test('has our application id, WAL and incremental vacuum in the file, and leaves no log behind when closed', async () => {
    await create();
    expect(await readdir(dataDir)).toEqual(['lmsp.lock', 'lmsp.sqlite']);
    expect(await look('PRAGMA application_id')).toEqual([{ application_id: APPLICATION_ID }]);
    expect((await readFile(file)).subarray(68, 72).toString('ascii')).toBe('LMSP');
    expect(await look('PRAGMA auto_vacuum')).toEqual([{ auto_vacuum: 2 }]);
    expect(await look('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  });

  test('writes with full synchronisation, foreign keys and recursive triggers, also right after its migrations', async () => {
    const store = await openHere();
    const pragmas = [
      'synchronous',
      'foreign_keys',
      'recursive_triggers',
      'busy_timeout',
      'wal_autocheckpoint',
      'cache_size',
      'temp_store',
    ];
    const found = await store.units.run(async (tx) => {
      const values: unknown[] = [];
      for (const name of pragmas) values.push(Object.values((await tx.query<object>(`PRAGMA ${name}`))[0]!)[0]);
      return values;
    });
    await store.close();
    expect(found).toEqual([2, 1, 1, 5000, 1000, -4000, 2]);
  });

  test('is opened again with what was committed, and takes a later migration', async () => {
    const store = await openHere();
    await store.units.run((tx) =>
      tx.execute(`INSERT INTO service_config (key, value, updated_at) VALUES ('a', 'b', 1)`),
    );
    await store.close();
    const again = await openHere([...MIGRATIONS, AddNote1999000000000]);
    expect(await again.reader.query('SELECT key FROM service_config')).toEqual([{ key: 'a' }]);
    expect(await again.reader.query('SELECT * FROM note')).toEqual([]);
    await again.close();
  });

  test('an empty file left by a kill before the header counts as new', async () => {
    await mkdir(dataDir);
    await writeFile(file, '');
    await create();
    expect(await look('PRAGMA auto_vacuum')).toEqual([{ auto_vacuum: 2 }]);
  });

  test('a file with a header and no table yet is finished', async () => {
    await mkdir(dataDir);
    const connection = await PlainConnection.open(file, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE);
    await connection.rows('PRAGMA auto_vacuum = INCREMENTAL');
    await connection.rows(`PRAGMA application_id = ${APPLICATION_ID}`);
    await connection.close();
    await create();
    expect(await look('SELECT count(*) AS n FROM tasks')).toEqual([{ n: 0 }]);
  });
});

describe('one process per data directory', () => {
  test('a second opening in the same process is refused in one line that names the directory', async () => {
    const store = await openHere();
    const second = openHere();
    await expect(second).rejects.toThrow(DataDirectoryInUse);
    await expect(second).rejects.toThrow(`the data directory ${dataDir} is in use by another running service`);
    await store.close();
    await create();
  });

  test('another process is refused while this one runs, and a killed one leaves no lock', async () => {
    const script = `
      const { openStore } = await import(${JSON.stringify(pathToFileURL(distEntry('database/index.js')).href)});
      const options = { dataDir: ${JSON.stringify(dataDir)}, busyTimeoutMs: 100, unitTimeoutSeconds: 1, ballastBytes: 0, entities: [], migrations: [] };
      await openStore(options).then(() => console.log('open'), (error) => console.log(error.name));
      setInterval(() => undefined, 1000);`;
    const start = async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      return { child, said: line.toString().trim() };
    };
    const end = async ({ child }: Awaited<ReturnType<typeof start>>) => {
      child.kill('SIGKILL');
      await once(child, 'close');
    };
    const first = await start();
    const second = await start();
    const here = await openHere().catch((error: unknown) => error);
    await end(second);
    await end(first);
    expect([first.said, second.said]).toEqual(['open', 'DataDirectoryInUse']);
    expect(here).toBeInstanceOf(DataDirectoryInUse);
    await create();
  });
});

describe('a store that cannot be used', () => {
  const refused = async (reason: RegExp, migrations?: readonly (new () => MigrationInterface)[]): Promise<void> => {
    const before = await readFile(file);
    const opening = openHere(migrations);
    await expect(opening).rejects.toThrow(StoreUnusable);
    await expect(opening).rejects.toThrow(reason);
    expect((await readFile(file)).equals(before)).toBe(true);
  };

  test('a newer schema than the program: both are named and nothing is written', async () => {
    await create([...MIGRATIONS, AddNote1999000000000]);
    await refused(new RegExp(`newer program.*AddNote1999000000000.*${MIGRATIONS.at(-1)?.name}`));
  });

  test("another program's database", async () => {
    await mkdir(dataDir);
    const connection = await PlainConnection.open(file, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE);
    await connection.rows('CREATE TABLE theirs (id integer)');
    await connection.close();
    await refused(/not a store of this program/);
  });

  test('something that is no database', async () => {
    await mkdir(dataDir);
    await writeFile(file, 'x'.repeat(10_000));
    await refused(/cannot be read/);
  });

  test('a damaged file, before a migration could build on it', async () => {
    await create();
    const [table] = await look<{ rootpage: number }>(`SELECT rootpage FROM sqlite_schema WHERE name = 'tasks_client'`);
    const handle = await openFile(file, 'r+');
    await handle.write(Buffer.alloc(4096, 0xff), 0, 4096, (table!.rootpage - 1) * 4096);
    await handle.close();
    await refused(/damaged/, [...MIGRATIONS, AddNote1999000000000]);
  });

  test('a store without incremental vacuum, which no later setting can repair in passing', async () => {
    await mkdir(dataDir);
    const connection = await PlainConnection.open(file, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE);
    await connection.rows(`PRAGMA application_id = ${APPLICATION_ID}`);
    await connection.close();
    await expect(openHere()).rejects.toThrow(/auto_vacuum is 0 instead of 2/);
  });

  test('a migration that fails is rolled back whole, named, and frees the directory', async () => {
    await expect(openHere([...MIGRATIONS, Breaks1999000000001])).rejects.toThrow(/could not be upgraded.*NONSENSE/);
    expect(await look(`SELECT name FROM sqlite_schema WHERE name = 'half'`)).toEqual([]);
    await create();
  });

  test('a file that another program has locked is an ordinary error: the next start may open it', async () => {
    await create();
    const other = await PlainConnection.open(file, sqlite3.OPEN_READWRITE);
    await other.rows('PRAGMA locking_mode = EXCLUSIVE');
    await other.rows('BEGIN EXCLUSIVE');
    const opening = openHere();
    await expect(opening).rejects.toThrow(/disk keeps the store.*SQLITE_BUSY/);
    await expect(opening).rejects.not.toBeInstanceOf(StoreUnusable);
    await other.close();
    await create();
  });

  test('a directory in the place of the file', async () => {
    await mkdir(file, { recursive: true });
    await expect(openHere()).rejects.toThrow(StoreUnusable);
  });

  test('a lock file that is no lock is an ordinary error and does not look like another process', async () => {
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'lmsp.lock'), 'x'.repeat(10_000));
    await expect(openHere()).rejects.toMatchObject({ code: 'SQLITE_NOTADB' });
  });

  test('a directory that cannot be entered is an ordinary error, not an unusable store', async () => {
    await writeFile(dataDir, 'a file in the way');
    await expect(openHere()).rejects.toMatchObject({ code: 'EEXIST' });
  });
});
