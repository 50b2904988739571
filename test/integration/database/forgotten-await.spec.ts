import { afterEach, beforeEach, expect, test } from 'vitest';
import { TransactionEnded, UnawaitedStatement, type Tx } from '../../../src/database/index.js';
import { ServiceConfigEntity } from '../../../src/database/service-config.entity.js';
import { openTestStore, type TestStore } from '../../support/store.js';

let open: TestStore;

beforeEach(async () => {
  open = await openTestStore();
});

afterEach(() => open.close());

const put = (tx: Tx, key: string): Promise<{ affected: number }> =>
  tx.execute('INSERT INTO service_config (key, value, updated_at) VALUES (?, ?, 1)', [key, 'v']);

const entity = (key: string): ServiceConfigEntity => ({ key, value: 'v', updatedAt: 1 });

/** Runs the faulty unit with another one right behind it and looks at what either left. */
async function rowsAround(faulty: (tx: Tx) => Promise<void>): Promise<string[]> {
  const refused = open.store.units.run(faulty);
  const next = open.store.units.run((tx) => put(tx, 'next'));
  await expect(refused).rejects.toThrow(UnawaitedStatement);
  await next;
  const rows = await open.store.reader.query<{ key: string }>('SELECT key FROM service_config');
  return rows.map(({ key }) => key);
}

/* HOUSE 4.2: the unit is refused, and the row is in neither its own unit nor the next one. */

test('a statement in flight at the end of its unit', async () => {
  expect(await rowsAround(async (tx) => void put(tx, 'forgotten'))).toEqual(['next']);
});

test('a statement that was done before the end, but never awaited', async () => {
  const rows = await rowsAround(async (tx) => {
    void put(tx, 'forgotten');
    await put(tx, 'own');
    await put(tx, 'another');
  });
  expect(rows).toEqual(['next']);
});

test('a statement that failed and was never awaited', async () => {
  const rows = await rowsAround(async (tx) => {
    void tx.execute('INSERT INTO service_config (key) VALUES (?)', ['no value']);
    await put(tx, 'own');
  });
  expect(rows).toEqual(['next']);
});

test('a function that awaits its own statements, called without await', async () => {
  let late: Promise<unknown> = Promise.resolve();
  const writeTwo = async (tx: Tx): Promise<void> => {
    await put(tx, 'one');
    await put(tx, 'two');
  };
  const rows = await rowsAround(async (tx) => {
    late = expect(writeTwo(tx)).rejects.toThrow(TransactionEnded);
  });
  await late;
  expect(rows).toEqual(['next']);
});

test('an operation of the entity manager, in flight', async () => {
  let late: Promise<unknown> = Promise.resolve();
  const rows = await rowsAround(async (tx) => {
    late = tx.manager.save(ServiceConfigEntity, entity('forgotten'));
  });
  await expect(late).rejects.toThrow(TransactionEnded);
  expect(rows).toEqual(['next']);
});

test('an operation of the entity manager, done before the end', async () => {
  const rows = await rowsAround(async (tx) => {
    void tx.manager.insert(ServiceConfigEntity, entity('forgotten'));
    await put(tx, 'own');
    await put(tx, 'another');
  });
  expect(rows).toEqual(['next']);
});

test('an operation of a repository and one of a query builder', async () => {
  const rows = await rowsAround(async (tx) => {
    void tx.manager.getRepository(ServiceConfigEntity).insert(entity('forgotten'));
    const insert = tx.manager.createQueryBuilder().insert().into(ServiceConfigEntity);
    void insert.values(entity('forgotten too')).updateEntity(false).execute();
    await put(tx, 'own');
    await put(tx, 'another');
    await put(tx, 'a third');
  });
  expect(rows).toEqual(['next']);
});

test('the error names the first words of what was forgotten, never its values', async () => {
  const unit = open.store.units.run(async (tx) => void put(tx, 'secret'));
  await expect(unit).rejects.toThrow(/^not awaited inside a unit of work: INSERT INTO service_config \(key,$/);
});

test("the work's own error wins over a forgotten statement", async () => {
  const unit = open.store.units.run(async (tx) => {
    void put(tx, 'forgotten');
    throw new Error('the real reason');
  });
  await expect(unit).rejects.toThrow('the real reason');
  expect(await open.store.reader.query('SELECT key FROM service_config')).toEqual([]);
});

test('statements awaited late, all at once or by returning them are not forgotten', async () => {
  await open.store.units.run(async (tx) => {
    const late = put(tx, 'late');
    await put(tx, 'early');
    await late;
    return put(tx, 'returned');
  });
  await open.store.units.run((tx) => put(tx, 'plain').finally(() => undefined));
  expect(await open.store.reader.query('SELECT count(*) AS n FROM service_config')).toEqual([{ n: 4 }]);
});
