import { setImmediate as turn } from 'node:timers/promises';
import sqlite3 from 'sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Batcher, StorageFault, StoreClosed, type BatcherOptions, type Tx } from '../../../src/database/index.js';
import { PlainConnection } from '../../../src/database/plain-connection.js';
import { openTestStore, type TestStore } from '../../support/store.js';

interface Item {
  key: string;
  /** Makes the whole batch fail while it is written. */
  poison?: boolean;
  /** Written well, but its own outcome is a refusal. */
  refused?: boolean;
}

let open: TestStore;
let batches: string[][];

beforeEach(async () => {
  batches = [];
  open = await openTestStore({ busyTimeoutMs: 40 });
});

afterEach(() => open.close());

async function write(tx: Tx, items: Item[]): Promise<Array<() => string>> {
  batches.push(items.map(({ key }) => key));
  await tx.execute(
    `INSERT INTO service_config (key, value, updated_at) SELECT value ->> 'key', 'v', 1 FROM json_each(?)`,
    [JSON.stringify(items)],
  );
  const poison = items.find((item) => item.poison);
  if (poison) throw new Error(`poisoned by ${poison.key}`);
  return items.map(({ key, refused }) => () => {
    if (refused) throw new Error(`${key} refused`);
    return key;
  });
}

const batcher = (options: Partial<BatcherOptions<Item, string>> = {}): Batcher<Item, string> =>
  new Batcher({ units: open.store.units, kind: 'other', maxBatch: 100, run: write, ...options });

const keys = async (): Promise<string[]> =>
  (await open.store.reader.query<{ key: string }>('SELECT key FROM service_config ORDER BY key')).map(({ key }) => key);

const submitAll = (target: Batcher<Item, string>, items: Item[]): Promise<Array<PromiseSettledResult<string>>> =>
  Promise.allSettled(items.map((item) => target.submit(item)));

describe('a batch', () => {
  test('holds what arrived in the same tick, up to its bound, in order', async () => {
    const items = Array.from({ length: 25 }, (_, index) => ({ key: `k${index}` }));
    const outcomes = await submitAll(batcher({ maxBatch: 10 }), items);
    expect(outcomes).toEqual(items.map(({ key }) => ({ status: 'fulfilled', value: key })));
    expect(batches.map((batch) => batch.length)).toEqual([10, 10, 5]);
    expect(batches.flat()).toEqual(items.map(({ key }) => key));
  });

  test('takes along what arrives while another unit keeps it waiting', async () => {
    const target = batcher();
    let arrived: Promise<string> = Promise.resolve('');
    const blocking = open.store.units.run(async (tx) => {
      await tx.query('SELECT 1');
      arrived = target.submit({ key: 'late' });
      await tx.query('SELECT 1');
    });
    const first = target.submit({ key: 'early' });
    await blocking;
    await Promise.all([first, arrived]);
    expect(batches).toEqual([['early', 'late']]);
  });

  test.each([
    ['one that does not gather', [{ key: 'at once' }]],
    ['so many that they are company enough', Array.from({ length: 13 }, (_, i) => ({ key: `token ${i + 4}` }))],
  ])('of inputs that gather waits after a commit, until there is %s', async (_, last) => {
    const target = batcher({ gathers: ({ key }) => key.startsWith('token'), gatherMs: 3_600_000 });
    await target.submit({ key: 'token 0' });
    expect(batches, 'the first commit waits for nobody').toEqual([['token 0']]);
    const gathered = ['token 1', 'token 2', 'token 3'].map((key) => target.submit({ key }));
    await turn();
    await turn();
    expect(batches).toHaveLength(1);
    await Promise.all([...gathered, ...last.map((item) => target.submit(item))]);
    expect(batches).toEqual([['token 0'], ['token 1', 'token 2', 'token 3', ...last.map(({ key }) => key)]]);
  });

  test('is on disk when its inputs resolve', async () => {
    await batcher().submit({ key: 'a' });
    expect(await keys()).toEqual(['a']);
  });

  test('an input whose own outcome is a refusal is stored like its neighbours and rejects alone', async () => {
    const outcomes = await submitAll(batcher(), [{ key: 'a' }, { key: 'b', refused: true }, { key: 'c' }]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(batches).toHaveLength(1);
    expect(await keys()).toEqual(['a', 'b', 'c']);
  });

  test('that gives too few outcomes is a fault of its writer and stores nothing', async () => {
    const target = batcher({ run: async () => [] });
    await expect(target.submit({ key: 'a' })).rejects.toThrow('a batch of 1 inputs gave 0 outcomes');
  });
});

describe('a poisoned batch', () => {
  test('leaves its neighbours whole: each input is tried by itself, once, and only the poison rejects', async () => {
    const items = [{ key: 'a' }, { key: 'b', poison: true }, { key: 'c' }, { key: 'd' }];
    const outcomes = await submitAll(batcher(), items);
    expect(outcomes).toMatchObject([
      { value: 'a' },
      { reason: new Error('poisoned by b') },
      { value: 'c' },
      { value: 'd' },
    ]);
    expect(batches).toEqual([['a', 'b', 'c', 'd'], ['a'], ['b'], ['c'], ['d']]);
    expect(await keys()).toEqual(['a', 'c', 'd']);
  });

  test('what arrives during the single tries waits behind them and is a batch again', async () => {
    const late: Array<Promise<string>> = [];
    const target: Batcher<Item, string> = batcher({
      run: async (tx, items) => {
        if (batches.length === 0) late.push(target.submit({ key: 'y' }), target.submit({ key: 'z' }));
        return write(tx, items);
      },
    });
    await submitAll(target, [{ key: 'a', poison: true }, { key: 'b' }]);
    await Promise.all(late);
    expect(batches).toEqual([['a', 'b'], ['a'], ['b'], ['y', 'z']]);
  });

  test('a statement that fails poisons like anything else', async () => {
    const outcomes = await submitAll(batcher(), [{ key: 'same' }, { key: 'same' }, { key: 'other' }]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await keys()).toEqual(['other', 'same']);
  });
});

describe("the storage's faults are no poison", () => {
  const lock = async (): Promise<PlainConnection> => {
    const other = await PlainConnection.open(open.store.file, sqlite3.OPEN_READWRITE);
    await other.rows('BEGIN IMMEDIATE');
    return other;
  };

  test('without patience all waiting inputs are refused together, and none was tried', async () => {
    const other = await lock();
    const outcomes = await submitAll(batcher(), [{ key: 'a' }, { key: 'b' }]);
    expect(outcomes).toMatchObject([{ reason: { code: 'storage_busy' } }, { reason: { code: 'storage_busy' } }]);
    expect(batches).toEqual([]);
    await other.close();
  });

  test('with patience the inputs wait in order and are written when the lock is gone', async () => {
    const other = await lock();
    const target = batcher({ storageWaitMs: () => 60_000 });
    const first = submitAll(target, [{ key: 'a' }, { key: 'b' }]);
    // This unit queues behind the batch's first try and shares its refusal.
    await expect(open.store.units.run(async () => 1)).rejects.toThrow(StorageFault);
    const second = submitAll(target, [{ key: 'c' }]);
    await other.close();
    expect([...(await first), ...(await second)]).toMatchObject([{ value: 'a' }, { value: 'b' }, { value: 'c' }]);
    expect(batches).toEqual([['a', 'b', 'c']]);
  });

  test('BL-13: each input has its own patience: one that came late is not refused with those before it', async () => {
    const since = performance.now();
    let locked = true;
    let late: Promise<string> | undefined;
    const target: Batcher<Item, string> = batcher({
      storageWaitMs: () => 1000,
      run: async (tx, items) => {
        if (performance.now() - since > 800) late ??= target.submit({ key: 'late' });
        if (locked) throw new StorageFault('busy', null);
        return write(tx, items);
      },
    });
    await expect(target.submit({ key: 'early' }).finally(() => (locked = false))).rejects.toThrow(StorageFault);
    expect(await late).toBe('late');
  });

  test('a full disk while a batch is written: the same inputs are written again, together', async () => {
    await open.store.units.run((tx) => tx.query('PRAGMA max_page_count = 1'));
    const target: Batcher<Item, string> = batcher({
      storageWaitMs: () => 60_000,
      run: async (tx, items) => {
        if (batches.length > 0) await tx.query('PRAGMA max_page_count = 100000');
        return write(tx, items);
      },
    });
    const items = Array.from({ length: 100 }, (_, index) => ({ key: String(index).padStart(2000, '0') }));
    const outcomes = await submitAll(target, items);
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(batches.map((batch) => batch.length)).toEqual([100, 100]);
    expect(await keys()).toHaveLength(100);
  });
});

describe('taking inputs out', () => {
  test('a unit that writes an input itself comes between the batches, and the batch no longer holds it', async () => {
    const target = batcher();
    const own = target.submit({ key: 'mine' });
    const other = target.submit({ key: 'other' });
    await open.store.units.run(async (tx) => {
      const taken = target.take(tx, ({ key }) => key === 'mine');
      await write(
        tx,
        taken.map(({ input }) => input),
      );
      tx.afterCommit(() => taken.forEach((waiting) => waiting.resolve('taken')));
    });
    expect(await Promise.all([own, other])).toEqual(['taken', 'other']);
    expect(batches).toEqual([['mine'], ['other']]);
    expect(await keys()).toEqual(['mine', 'other']);
  });

  test('if that unit rolls back, the input waits again, also when nothing else does', async () => {
    const target = batcher();
    const own = target.submit({ key: 'mine' });
    const unit = open.store.units.run(async (tx) => {
      await write(
        tx,
        target.take(tx, () => true).map(({ input }) => input),
      );
      throw new Error('no');
    });
    await expect(unit).rejects.toThrow('no');
    await expect(own).resolves.toBe('mine');
    expect(await keys()).toEqual(['mine']);
  });

  test('inputs of a failed batch stand in the queue again before the next unit looks', async () => {
    const target = batcher();
    const submitted = submitAll(target, [{ key: 'a', poison: true }, { key: 'b' }]);
    await turn(); // The batch's unit is queued now, so the next one runs right after its rollback.
    await open.store.units.run(async (tx) => {
      const taken = target.take(tx, ({ key }) => key === 'b');
      await write(
        tx,
        taken.map(({ input }) => input),
      );
      tx.afterCommit(() => taken.forEach((waiting) => waiting.resolve('taken')));
    });
    expect(await submitted).toMatchObject([{ status: 'rejected' }, { value: 'taken' }]);
    expect(batches).toEqual([['a', 'b'], ['b'], ['a']]);
  });

  test('what a failing unit gives back does not join inputs that must run alone', async () => {
    const target = batcher();
    const submitted = submitAll(target, [{ key: 'a', poison: true }, { key: 'b' }]);
    await turn();
    let late: Promise<string> = Promise.resolve('');
    const unit = open.store.units.run(async (tx) => {
      late = target.submit({ key: 'c' });
      target.take(tx, ({ key }) => key === 'c');
      throw new Error('no');
    });
    await expect(unit).rejects.toThrow('no');
    expect(await late).toBe('c');
    expect(await submitted).toMatchObject([{ status: 'rejected' }, { value: 'b' }]);
    expect(batches).toEqual([['a', 'b'], ['c'], ['a'], ['b']]);
  });
});

describe('bounds and end', () => {
  test('more waiting inputs than allowed are refused at once', async () => {
    const target = batcher({ maxWaiting: 2 });
    const outcomes = await submitAll(target, [{ key: 'a' }, { key: 'b' }, { key: 'c' }]);
    expect(outcomes).toMatchObject([{ value: 'a' }, { value: 'b' }, { reason: { code: 'storage_busy' } }]);
  });

  test('inputs that come when the store is closing are refused with the reason', async () => {
    await open.store.close();
    await expect(batcher().submit({ key: 'a' })).rejects.toThrow(StoreClosed);
  });

  test('an idle batcher starts again', async () => {
    const target = batcher();
    await target.submit({ key: 'a' });
    await target.submit({ key: 'b' });
    expect(batches).toEqual([['a'], ['b']]);
  });
});
