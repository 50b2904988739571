import type { DataSource } from 'typeorm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WriteOutsideUnit } from '../../../src/database/index.js';
import { ServiceConfigEntity } from '../../../src/database/service-config.entity.js';
import type { GuardedDatabase } from '../../../src/database/write-guard.js';
import { openTestStore, type TestStore } from '../../support/store.js';

const INSERT = `INSERT INTO service_config (key, value, updated_at) VALUES ('stray', 'v', 1)`;

let open: TestStore;
let writer: DataSource;

beforeEach(async () => {
  open = await openTestStore();
  // Private on purpose; the guard is for whoever gets hold of it nevertheless.
  ({ writer } = Reflect.get(open.store, 'sources') as { writer: DataSource });
});

afterEach(() => open.close());

const count = async (): Promise<number> => {
  const [row] = await open.store.reader.query<{ n: number }>('SELECT count(*) AS n FROM service_config');
  return row!.n;
};

test('a statement on the writing connection without a unit is refused', async () => {
  await expect(writer.query(INSERT)).rejects.toThrow(WriteOutsideUnit);
  await expect(writer.query('SELECT 1')).rejects.toThrow('statement outside a unit of work: SELECT 1');
  await expect(writer.manager.insert(ServiceConfigEntity, { key: 'stray', value: '', updatedAt: 1 })).rejects.toThrow();
  expect(await count()).toBe(0);
});

test('a stray statement neither joins the unit that is open meanwhile nor disturbs it', async () => {
  let inside: () => void = () => undefined;
  const isInside = new Promise<void>((resolve) => (inside = resolve));
  let leave: () => void = () => undefined;
  const unit = open.store.units.run(async (tx) => {
    await tx.execute(INSERT.replace('stray', 'own'));
    inside();
    await new Promise<void>((resolve) => (leave = resolve));
  });
  await isInside;
  await expect(writer.query(INSERT)).rejects.toThrow(WriteOutsideUnit);
  leave();
  await unit;
  expect(await count()).toBe(1);
});

test('inside a unit only its tx writes', async () => {
  await open.store.units.run(async (tx) => {
    await expect(writer.query(INSERT)).rejects.toThrow(WriteOutsideUnit);
    await expect(tx.manager.connection.query(INSERT)).rejects.toThrow(WriteOutsideUnit);
  });
  expect(await count()).toBe(0);
});

test.each(['run', 'all', 'get', 'each', 'exec', 'prepare'] as const)('the bare connection guards %s', (method) => {
  const { databaseConnection } = writer.driver as unknown as { databaseConnection: GuardedDatabase };
  expect(() => databaseConnection[method](INSERT)).toThrow(WriteOutsideUnit);
});

test('the reading connection cannot write', async () => {
  await expect(open.store.reader.query(INSERT)).rejects.toThrow(/readonly/);
  await expect(open.store.reader.manager.delete(ServiceConfigEntity, {})).rejects.toThrow();
});

test('many reads at once wait for each other and all get their rows', async () => {
  const reads = Array.from({ length: 100 }, (_, i) => open.store.reader.query<{ i: number }>('SELECT ? AS i', [i]));
  expect((await Promise.all(reads)).map(([row]) => row!.i)).toEqual(Array.from({ length: 100 }, (_, i) => i));
});
