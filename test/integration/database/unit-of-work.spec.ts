import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  NestedUnit,
  StoreClosed,
  TransactionControl,
  TransactionEnded,
  type CommittedUnit,
  type Tx,
} from '../../../src/database/index.js';
import { ServiceConfigEntity } from '../../../src/database/service-config.entity.js';
import { openTestStore, type TestStore } from '../../support/store.js';
import { waitFor } from '../../support/wait-for.js';

let open: TestStore;
let reported: unknown[];

beforeEach(async () => {
  reported = [];
  open = await openTestStore({ onCallbackError: (error) => reported.push(error) });
});

afterEach(() => open.close());

const put = (tx: Tx, key: string): Promise<{ affected: number }> =>
  tx.execute('INSERT INTO service_config (key, value, updated_at) VALUES (?, ?, 1)', [key, 'v']);

const keys = async (): Promise<string[]> =>
  (await open.store.reader.query<{ key: string }>('SELECT key FROM service_config ORDER BY key')).map(({ key }) => key);

describe('units that overlap', () => {
  test('a unit that commits keeps its rows although the other one rolls back', async () => {
    const first = open.store.units.run(async (tx) => {
      await put(tx, 'lost');
      throw new Error('too late');
    });
    const second = open.store.units.run((tx) => put(tx, 'kept'));
    await expect(first).rejects.toThrow('too late');
    await expect(second).resolves.toEqual({ affected: 1 });
    expect(await keys()).toEqual(['kept']);
  });

  test('200 units in one tick, failing early, late or not at all, leave exactly the acknowledged rows', async () => {
    const units = Array.from({ length: 200 }, (_, index) =>
      open.store.units.run(async (tx) => {
        if (index % 5 === 1) throw new Error('early');
        await put(tx, `a${index}`);
        await put(tx, `b${index}`);
        if (index % 5 === 3) throw new Error('late');
        return index;
      }),
    );
    const outcomes = await Promise.allSettled(units);
    const acknowledged = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(acknowledged).toHaveLength(120);
    expect(await keys()).toEqual(acknowledged.flatMap((index) => [`a${index}`, `b${index}`]).sort());
  });

  test('units run in the order of their submission', async () => {
    const order: number[] = [];
    const unit = (index: number) => open.store.units.run(async () => void order.push(index));
    await Promise.all([3, 1, 2].map(unit));
    expect(order).toEqual([3, 1, 2]);
  });

  test('a reader sees nothing of a unit before its commit', async () => {
    const seen = await open.store.units.run(async (tx) => {
      await put(tx, 'unseen');
      return keys();
    });
    expect(seen).toEqual([]);
    expect(await keys()).toEqual(['unseen']);
  });
});

describe('a unit from within', () => {
  test('a nested run is refused instead of waiting for itself', async () => {
    await expect(open.store.units.run(() => open.store.units.run(async () => 1))).rejects.toThrow(NestedUnit);
  });

  test('a unit may be started from a callback and from what a finished unit left behind', async () => {
    let later: Promise<unknown> = Promise.resolve();
    await open.store.units.run(async (tx) => {
      await put(tx, 'first');
      tx.afterCommit(() => {
        later = open.store.units.run((next) => put(next, 'second'));
      });
    });
    await later;
    expect(await keys()).toEqual(['first', 'second']);
  });

  test.each(['BEGIN', ' commit', 'END', 'Rollback', 'SAVEPOINT a', 'RELEASE a'])(
    '%s by hand is refused',
    async (sql) => {
      await expect(open.store.units.run((tx) => tx.query(sql))).rejects.toThrow(TransactionControl);
      expect(await keys()).toEqual([]);
    },
  );

  test("the entity manager's own transactions are refused", async () => {
    const nested = open.store.units.run((tx) => tx.manager.transaction(async () => undefined));
    await expect(nested).rejects.toThrow(TransactionControl);
    const runner = open.store.units.run(async (tx) => {
      await tx.manager.queryRunner?.release();
      await tx.manager.queryRunner?.commitTransaction();
    });
    await expect(runner).rejects.toThrow(TransactionControl);
  });

  test('update with returning gives rows, execute gives the number of changed rows', async () => {
    await open.store.units.run(async (tx) => {
      await put(tx, 'a');
      await put(tx, 'b');
      expect(await tx.query(`update service_config set value = 'w' where key = 'a' returning key, value`)).toEqual([
        { key: 'a', value: 'w' },
      ]);
      expect(await tx.execute(`UPDATE service_config SET value = 'x'`)).toEqual({ affected: 2 });
      expect(await tx.execute(`DELETE FROM service_config WHERE key = 'none'`)).toEqual({ affected: 0 });
    });
  });

  test('a violated key is an error of its statement; the unit goes on if it catches it', async () => {
    await open.store.units.run(async (tx) => {
      await put(tx, 'a');
      await expect(put(tx, 'a')).rejects.toThrow(/UNIQUE/);
      await put(tx, 'b');
    });
    expect(await keys()).toEqual(['a', 'b']);
  });

  test('the entity manager, its repositories and its builders write in the unit', async () => {
    const entity = (key: string): ServiceConfigEntity => ({ key, value: 'v', updatedAt: 1 });
    const rolledBack = open.store.units.run(async (tx) => {
      await tx.manager.save(ServiceConfigEntity, entity('saved'));
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await open.store.units.run(async (tx) => {
      await tx.manager.insert(ServiceConfigEntity, entity('inserted'));
      await tx.manager.save(ServiceConfigEntity, entity('saved'));
      await tx.manager.getRepository(ServiceConfigEntity).insert(entity('repository'));
      const built = tx.manager.createQueryBuilder().insert().into(ServiceConfigEntity).values(entity('built'));
      await built.updateEntity(false).execute();
      expect(await tx.manager.countBy(ServiceConfigEntity, {})).toBe(4);
    });
    expect(await keys()).toEqual(['built', 'inserted', 'repository', 'saved']);
    expect(await open.store.reader.manager.countBy(ServiceConfigEntity, {})).toBe(4);
  });
});

describe('a tx after its unit', () => {
  test('every use throws TransactionEnded and reaches no other unit', async () => {
    let leaked: Tx | undefined;
    await open.store.units.run(async (tx) => {
      leaked = tx;
      await put(tx, 'own');
    });
    const tx = leaked!;
    await expect(put(tx, 'late')).rejects.toThrow(TransactionEnded);
    await expect(tx.query('SELECT 1')).rejects.toThrow(TransactionEnded);
    await expect(tx.manager.insert(ServiceConfigEntity, { key: 'late', value: '', updatedAt: 1 })).rejects.toThrow(
      TransactionEnded,
    );
    expect(() => tx.afterCommit(() => undefined)).toThrow(TransactionEnded);
    expect(() => tx.afterRollback(() => undefined)).toThrow(TransactionEnded);
    await open.store.units.run(async () => {
      await expect(put(tx, 'late')).rejects.toThrow(TransactionEnded);
    });
    expect(await keys()).toEqual(['own']);
  });
});

describe('callbacks', () => {
  test('afterCommit runs after the commit, in order, before the next unit and its callbacks', async () => {
    const order: string[] = [];
    const unit = (name: string) =>
      open.store.units.run(async (tx) => {
        order.push(`${name} works`);
        tx.afterCommit(() => order.push(`${name} first`));
        tx.afterCommit(() => order.push(`${name} second`));
        tx.afterRollback(() => order.push('never'));
        await put(tx, name);
      });
    await Promise.all([unit('a'), unit('b')]);
    expect(order).toEqual(['a works', 'a first', 'a second', 'b works', 'b first', 'b second']);
  });

  test('afterRollback runs before the next unit starts, and afterCommit does not run', async () => {
    const order: string[] = [];
    const failing = open.store.units.run(async (tx) => {
      tx.afterCommit(() => order.push('never'));
      tx.afterRollback(() => order.push('rolled back'));
      throw new Error('no');
    });
    const next = open.store.units.run(async () => void order.push('next'));
    await expect(failing).rejects.toThrow('no');
    await next;
    expect(order).toEqual(['rolled back', 'next']);
  });

  test('a callback that throws is reported; the commit stands and the other callbacks run', async () => {
    const order: string[] = [];
    await open.store.units.run(async (tx) => {
      tx.afterCommit(() => {
        throw new Error('listener');
      });
      tx.afterCommit(() => order.push('second'));
      await put(tx, 'a');
    });
    expect(reported).toEqual([new Error('listener')]);
    expect(order).toEqual(['second']);
    expect(await keys()).toEqual(['a']);
  });

  test('without anybody to report to, what a callback threw becomes a warning of the process', async () => {
    const plain = await openTestStore();
    const warnings: unknown[] = [];
    const listen = (warning: Error) => void warnings.push(warning.message);
    process.on('warning', listen);
    await plain.store.units.run(async (tx) =>
      tx.afterCommit(() => {
        throw new Error('an error');
      }),
    );
    await waitFor('the warning', () => warnings.length > 0);
    process.off('warning', listen);
    await plain.close();
    expect(warnings).toEqual(['an error']);
  });
});

describe('waiting and closing', () => {
  test('the oldest wait counts from the submission of the oldest unfinished unit and is 0 when idle', async () => {
    expect(open.store.units.oldestWaitMs()).toBe(0);
    const seen = await open.store.units.run(async () => {
      await turn();
      return open.store.units.oldestWaitMs();
    });
    expect(seen).toBeGreaterThan(0);
    expect(open.store.units.oldestWaitMs()).toBe(0);
  });

  test('close finishes the submitted units, refuses later ones and may be called twice', async () => {
    const submitted = [open.store.units.run((tx) => put(tx, 'a')), open.store.units.run((tx) => put(tx, 'b'))];
    const closed = open.store.close();
    await expect(open.store.units.run(async () => 1)).rejects.toThrow(StoreClosed);
    await closed;
    await expect(Promise.all(submitted)).resolves.toHaveLength(2);
    await open.store.close();
  });
});

describe('what the store tells of its commits (OPERATE 3.2)', () => {
  test('each unit that is on disk, by kind; none that rolled back; and a listener that throws disturbs nobody', async () => {
    const told: CommittedUnit[] = [];
    open.store.units.onCommit(() => {
      throw new Error('no');
    });
    const stop = open.store.units.onCommit((unit) => void told.push(unit));
    await open.store.units.run((tx) => put(tx, 'a'), { kind: 'accept', operations: () => 3 });
    await open.store.units.run(() => Promise.reject(new Error('no'))).catch(() => undefined);
    await open.store.units.run((tx) => put(tx, 'b'));
    stop();
    await open.store.units.run((tx) => put(tx, 'c'));
    expect(told.map(({ kind, operations }) => [kind, operations])).toEqual([
      ['accept', 3],
      ['other', null],
    ]);
    expect(told.every(({ commitMs }) => commitMs > 0)).toBe(true);
    expect(reported).toHaveLength(3);
  });

  test('how many units wait or are open', async () => {
    const units = [1, 2, 3].map(() => open.store.units.run(() => turn()));
    expect(open.store.units.queueLength).toBe(3);
    await Promise.all(units);
    expect(open.store.units.queueLength).toBe(0);
  });
});
