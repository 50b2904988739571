import { rm } from 'node:fs/promises';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../../migrations/index.js';
import { openStore, StoreUnusable, type ExtensionMigrations, type Store } from '../../../src/database/index.js';
import { storeOptions, temporaryDirectory } from '../../support/store.js';

type Migration = new () => MigrationInterface;

function migration(name: string, ...statements: string[]): Migration {
  const made = class implements MigrationInterface {
    async up(runner: QueryRunner): Promise<void> {
      for (const statement of statements) await runner.query(statement);
    }
    async down(): Promise<void> {}
  };
  Object.defineProperty(made, 'name', { value: name });
  return made;
}

/** Older than anything of the service. */
const NOTES = migration('CreateNotes1000000000000', 'CREATE TABLE desk_notes (id text PRIMARY KEY) STRICT');
const INDEX = migration('IndexNotes1000000000001', 'CREATE INDEX desk_notes_id ON desk_notes (id)');

let dataDir: string;

beforeEach(async () => {
  dataDir = await temporaryDirectory();
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

const desk = (...migrations: Migration[]): ExtensionMigrations => ({ owner: 'desk', tablePrefix: 'desk_', migrations });
const openWith = (...sets: ExtensionMigrations[]): Promise<Store> =>
  openStore(storeOptions(dataDir, { extensionMigrations: sets }));

async function look<T>(store: Store, sql: string): Promise<T[]> {
  const rows = await store.reader.query<Record<string, T>>(sql);
  return rows.map((row) => Object.values(row)[0] as T);
}

async function closed(store: Store): Promise<Store> {
  await store.close();
  return store;
}

describe('migrations of extensions (HOUSE 3.4)', () => {
  it("run after the service's own, whatever their time, and are noted with their extension", async () => {
    const store = await openWith(desk(NOTES), { ...desk(NOTES), owner: 'other', migrations: [] });
    expect(await look(store, 'SELECT name FROM extension_migrations')).toEqual([`desk:${NOTES.name}`]);
    expect(await look(store, 'SELECT count(*) FROM migrations')).toEqual([MIGRATIONS.length]);
    expect(store.upgrade, 'a new store is not copied').toBeNull();
    await store.close();
  });

  it('of an extension that joins an older store come behind a copy, as ours do, and run once', async () => {
    await closed(await openWith());
    const { upgrade } = await closed(await openWith(desk(NOTES)));
    expect(upgrade).toMatchObject({ migrations: [`desk:${NOTES.name}`] });
    const again = await closed(await openWith(desk(NOTES, INDEX)));
    expect(again.upgrade).toMatchObject({ migrations: [`desk:${INDEX.name}`] });
    expect(again.upgrade!.copy).not.toBe(upgrade!.copy);
    expect((await closed(await openWith(desk(NOTES, INDEX)))).upgrade).toBeNull();
  });

  it('stay where their extension is removed: the store opens, and opens with it again', async () => {
    await closed(await openWith(desk(NOTES)));
    const store = await openWith();
    expect(await look(store, `SELECT name FROM sqlite_schema WHERE name = 'desk_notes'`)).toEqual(['desk_notes']);
    await store.close();
    await closed(await openWith(desk(NOTES)));
  });

  it('that a loaded extension does not know come from a newer version of it: the store is not opened', async () => {
    await closed(await openWith(desk(NOTES, INDEX)));
    await expect(openWith(desk(NOTES))).rejects.toThrow(
      `a newer version of an extension wrote desk:IndexNotes1000000000001`,
    );
  });

  it.each([
    ['makes a table of another name', 'CREATE TABLE notes (id text)', 'makes notes'],
    ['changes a table of ours', 'ALTER TABLE tasks ADD COLUMN desk text', 'changes tasks'],
    ['removes an index of ours', 'DROP INDEX clients_token_hash', 'removes clients_token_hash'],
    [
      'puts a trigger on a table of ours',
      'CREATE TRIGGER desk_spy AFTER INSERT ON tasks BEGIN SELECT 1; END',
      'makes desk_spy',
    ],
    [
      'ties its rows to ours',
      'CREATE TABLE desk_tasks (id text REFERENCES tasks (id)) STRICT',
      'ties desk_tasks to tasks by a foreign key',
    ],
  ])('one that %s is rolled back, and the start is refused', async (_, sql, complaint) => {
    const refused = openWith(desk(migration('Overstep1000000000002', sql)));
    await expect(refused).rejects.toBeInstanceOf(StoreUnusable);
    await expect(refused).rejects.toThrow(`desk:Overstep1000000000002 ${complaint}`);
    const store = await openWith();
    expect(await look(store, 'SELECT name FROM extension_migrations')).toEqual([]);
    expect(
      await look(store, `SELECT name FROM sqlite_schema WHERE name IN ('notes', 'desk_spy', 'desk_tasks')`),
    ).toEqual([]);
    expect(await look(store, `SELECT count(*) FROM sqlite_schema WHERE name = 'clients_token_hash'`)).toEqual([1]);
    await store.close();
  });
});
