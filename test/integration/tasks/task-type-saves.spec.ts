import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Tx } from '../../../src/database/index.js';
import { DomainError } from '../../../src/errors/index.js';
import type { JsonObject, Task, TypedTaskRun } from '../../../src/tasks/index.js';
import { CountingType, type Count, type CountInput } from '../../support/counting-type.js';
import { TypeLab } from '../../support/type-lab.js';
import { waitFor } from '../../support/wait-for.js';

type Run = TypedTaskRun<CountInput, Count>;

/** A type whose run is what the test says. */
class ScriptedType extends CountingType {
  script: (run: Run) => Promise<JsonObject | null> = () => Promise.resolve(null);

  override run(run: Run): Promise<JsonObject | null> {
    return this.script(run);
  }
}

let scripted: ScriptedType;
let types: TypeLab;
const faults: unknown[] = [];
beforeEach(async () => {
  scripted = new ScriptedType();
  types = await TypeLab.open(scripted, { LMSP_MAX_TASK_STEP_BYTES: '1024' });
  faults.length = 0;
  types.lab.notices.on('task.fault', ({ error }) => void faults.push(error));
  await types.lab.write((tx) => tx.execute('CREATE TABLE pages (task_id, number INTEGER UNIQUE)'));
  await types.start();
});
afterEach(() => types.lab.close());

async function ends(script: (run: Run) => Promise<JsonObject | null>): Promise<Task> {
  scripted.script = script;
  const { id } = await types.create(1);
  return types.ended(id);
}

const page =
  (run: Run, number: number) =>
  async (tx: Tx): Promise<void> => {
    await tx.execute('INSERT INTO pages VALUES (?, ?)', [run.taskId, number]);
  };
const counted = (number: number) => [{ word: 'counted', payload: { number } }];
const pages = async (): Promise<number[]> =>
  (await types.lab.store.reader.query<{ number: number }>('select number from pages order by number')).map(
    ({ number }) => number,
  );

describe('what a step saves', () => {
  it('cursor, events and rows of its own are one: all of them or none', async () => {
    const kept = await ends(async (run) => {
      for (const n of [1, 2, 3]) await run.save({ done: n }, counted(n), page(run, n));
      return { cursor: run.cursor };
    });
    expect(kept).toMatchObject({ status: 'completed', result: { cursor: { done: 3 } } });
    expect(await pages()).toEqual([1, 2, 3]);
    const undone = await ends(async (run) => {
      await run.save({ done: 4 }, counted(4), page(run, 4));
      // The row of the third step is there already.
      await run.save({ done: 5 }, counted(5), page(run, 3));
      return null;
    });
    expect(undone).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    expect(await types.counted(undone.id)).toEqual([4]);
    expect(await pages()).toEqual([1, 2, 3, 4]);
    expect(faults).toHaveLength(1);
    expect(await types.lab.faults()).toEqual([]);
  });

  it('saves that are not awaited are written in order, and the run ends with the last of them', async () => {
    const task = await ends((run) => {
      for (let n = 1; n <= 20; n++) void run.save({ done: n }, counted(n), n % 2 === 0 ? page(run, n) : undefined);
      return Promise.resolve({ all: true });
    });
    expect(task.status).toBe('completed');
    expect(await types.counted(task.id)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(await pages()).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    expect(await types.lab.faults()).toEqual([]);
  });

  it.each([
    ['is awaited', true],
    ['nobody looks at', false],
  ])('a refusal of the write that %s fails the task in its words, and nothing is saved after it', async (_, looks) => {
    const task = await ends(async (run) => {
      await run.save({ done: 1 }, counted(1));
      const refused = run.save({ done: 2 }, counted(2), () => Promise.reject(new DomainError('invalid_value', 'no')));
      if (looks) await refused;
      const late = run.save({ done: 3 }, counted(3));
      await Promise.allSettled([refused, late]);
      return { all: true };
    });
    expect(task).toMatchObject({ status: 'failed', error: { code: 'invalid_value', message: 'no' }, result: null });
    expect(await types.counted(task.id)).toEqual([1]);
    expect(await types.lab.faults()).toEqual([]);
  });

  it('a write that fails takes no step of another task with it', async () => {
    scripted.script = async (run) => {
      const isSick = run.metadata.sick === 'yes';
      for (let n = 1; n <= 5; n++) {
        await run.save({ done: n }, counted(n), isSick && n === 3 ? () => Promise.reject(new Error('no')) : undefined);
      }
      return null;
    };
    const sick = await types.create(1, { metadata: { sick: 'yes' } });
    const well = await types.create(1);
    expect((await types.ended(sick.id)).status).toBe('failed');
    expect((await types.ended(well.id)).status).toBe('completed');
    expect([await types.counted(sick.id), await types.counted(well.id)]).toEqual([
      [1, 2],
      [1, 2, 3, 4, 5],
    ]);
  });

  it('a cancel that meets a step whose write fails goes through at once, without the step', async () => {
    let goOn = (): void => undefined;
    let free = (): void => undefined;
    const told = new Promise<void>((resolve) => (goOn = resolve));
    const freed = new Promise<void>((resolve) => (free = resolve));
    scripted.script = async (run) => {
      await run.save({ done: 1 }, counted(1));
      await told;
      await run.save({ done: 2 }, counted(2), () => Promise.reject(new Error('no')));
      return null;
    };
    const { id } = await types.create(1);
    await waitFor('the first step', async () => (await types.counted(id)).length === 1);
    const busy = types.lab.write(() => freed);
    const cancelled = types.lab.cancellation.cancel(id);
    goOn();
    await new Promise(setImmediate);
    free();
    await busy;
    expect((await cancelled).status).toMatch(/^cancel/);
    expect((await types.ended(id)).status).toBe('cancelled');
    expect(await types.counted(id)).toEqual([1]);
    expect(await types.lab.faults()).toEqual([]);
  });

  it.each([
    ['a cursor beyond LMSP_MAX_TASK_STEP_BYTES', (run: Run) => run.save({ done: 1, more: 'x'.repeat(1024) } as Count)],
    ['events beyond it', (run: Run) => run.save({ done: 1 }, [{ word: 'big', payload: { more: 'x'.repeat(1024) } }])],
    ['a cursor that is no JSON', (run: Run) => run.save(undefined as unknown as Count)],
    ['a word that is none', (run: Run) => run.save({ done: 1 }, [{ word: 'response.completed', payload: {} }])],
    ['a result beyond it', () => Promise.resolve({ more: 'x'.repeat(1024) })],
    ['a result that is no object', () => Promise.resolve('text' as unknown as JsonObject)],
  ])('%s fails the task and is not stored', async (_, work) => {
    const task = await ends(async (run) => (await work(run)) ?? null);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'server_error' }, result: null });
    expect(await types.lab.types(task.id)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
      'error',
      'response.failed',
    ]);
    expect(JSON.stringify(faults.map(String))).not.toContain('xxx');
  });

  it('what it asks for is checked again before it runs', async () => {
    const { id } = await types.lab.create({ type: scripted.type, input: { upTo: 'many' }, onRestart: 'fail' });
    types.lab.runner.wake(scripted.type, null);
    expect((await types.ended(id)).error).toMatchObject({ code: 'invalid_type', param: 'input.upTo' });
  });
});
