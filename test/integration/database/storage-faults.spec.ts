import sqlite3 from 'sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  StorageFault,
  TransactionEnded,
  UnitTimedOut,
  type StoreOptions,
  type Tx,
} from '../../../src/database/index.js';
import { PlainConnection } from '../../../src/database/plain-connection.js';
import { openTestStore, type TestStore } from '../../support/store.js';

const ENDLESS = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n';

let open: TestStore;

const use = (overrides: Partial<StoreOptions>): void => {
  beforeEach(async () => {
    open = await openTestStore(overrides);
  });
  afterEach(() => open.close());
};

const put = (tx: Tx, key: string, value = 'v'): Promise<{ affected: number }> =>
  tx.execute('INSERT INTO service_config (key, value, updated_at) VALUES (?, ?, 1)', [key, value]);

const keys = async (): Promise<string[]> =>
  (await open.store.reader.query<{ key: string }>('SELECT key FROM service_config ORDER BY key')).map(({ key }) => key);

describe('a full disk', () => {
  use({});

  const limitPages = (count: number): Promise<unknown> =>
    open.store.units.run((tx) => tx.query(`PRAGMA max_page_count = ${count}`));
  const large = 'x'.repeat(400_000);

  test('refuses the unit as storage_full, leaves nothing of it, and the next units are whole transactions', async () => {
    await limitPages(1);
    const full = open.store.units.run(async (tx) => {
      await put(tx, 'small');
      await put(tx, 'large', large);
    });
    await expect(full).rejects.toMatchObject({ code: 'storage_full', fault: 'full' });
    expect(open.store.units.lastFault).toBe('full');
    await limitPages(100_000);
    expect(open.store.units.lastFault).toBeNull();
    const rolledBack = open.store.units.run(async (tx) => {
      await put(tx, 'not this');
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    expect(open.store.units.lastFault).toBeNull();
    await open.store.units.run((tx) => put(tx, 'this'));
    expect(await keys()).toEqual(['this']);
  });

  test('a unit that goes on after SQLite has rolled it back writes nothing more and is refused', async () => {
    await limitPages(1);
    const stubborn = open.store.units.run(async (tx) => {
      await put(tx, 'large', large).catch(() => undefined);
      await put(tx, 'small').catch(() => undefined);
    });
    await expect(stubborn).rejects.toThrow(StorageFault);
    expect(await keys()).toEqual([]);
  });
});

describe('a lock held elsewhere', () => {
  use({ busyTimeoutMs: 40 });

  test('refuses all units that waited for it together, as storage_busy, and takes the next ones when it is gone', async () => {
    const other = await PlainConnection.open(open.store.file, sqlite3.OPEN_READWRITE);
    await other.rows('BEGIN IMMEDIATE');
    const waiting = ['a', 'b', 'c'].map((key) => open.store.units.run((tx) => put(tx, key)));
    const errors = await Promise.all(waiting.map((unit) => unit.catch((error: unknown) => error as StorageFault)));
    expect(errors).toMatchObject([{ code: 'storage_busy' }, { code: 'storage_busy' }, { code: 'storage_busy' }]);
    expect(new Set((errors as StorageFault[]).map((error) => error.cause)).size).toBe(1);
    await other.close();
    await open.store.units.run((tx) => put(tx, 'd'));
    expect(await keys()).toEqual(['d']);
  });
});

describe('a unit that does not end', () => {
  use({ unitTimeoutSeconds: 0.05 });

  test('an endless statement is interrupted and its unit rolled back', async () => {
    const endless = open.store.units.run(async (tx) => {
      await put(tx, 'a');
      await tx.query(ENDLESS);
    });
    await expect(endless).rejects.toThrow(UnitTimedOut);
    await open.store.units.run((tx) => put(tx, 'b'));
    expect(await keys()).toEqual(['b']);
  });

  test('several endless statements at once are all interrupted', async () => {
    const endless = open.store.units.run(async (tx) => {
      await Promise.all([tx.query(ENDLESS), tx.query(ENDLESS), tx.query(ENDLESS)]);
    });
    await expect(endless).rejects.toThrow(UnitTimedOut);
  });

  test('work that waits for something else is cut off, and what it does later is refused', async () => {
    let goOn: () => void = () => undefined;
    let late: Promise<unknown> = Promise.resolve();
    const stuck = open.store.units.run(async (tx) => {
      await put(tx, 'a');
      await new Promise<void>((resolve) => (goOn = resolve));
      late = put(tx, 'b');
      await late;
    });
    await expect(stuck).rejects.toThrow(UnitTimedOut);
    const next = open.store.units.run(async (tx) => {
      goOn();
      await put(tx, 'c');
    });
    await next;
    await expect(late).rejects.toThrow(TransactionEnded);
    expect(await keys()).toEqual(['c']);
  });
});
