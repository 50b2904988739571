import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/errors/index.js';
import { TaskTypeTaken, type OnRestart } from '../../../src/tasks/index.js';
import { CountingType } from '../../support/counting-type.js';
import { TypeLab } from '../../support/type-lab.js';
import { waitFor } from '../../support/wait-for.js';

let types: TypeLab;
beforeEach(async () => {
  types = await TypeLab.open();
});
afterEach(() => types.lab.close());

/** The task has done its steps before this one, and is in it for good. */
async function heldAt(step: number, onRestart: OnRestart, upTo = 5): Promise<string> {
  let isHeld = false;
  types.counting.before = (_, at) => {
    if (at !== step) return undefined;
    isHeld = true;
    return new Promise<void>(() => undefined);
  };
  await types.start();
  const { id } = await types.create(upTo, { onRestart });
  await waitFor(`step ${step}`, () => isHeld);
  return id;
}

describe('a task type of an author', () => {
  it('runs to its result; events, cursor and progress are those of its steps', async () => {
    await types.start();
    const { id } = await types.create(3);
    const task = await types.ended(id);
    expect(task).toMatchObject({ status: 'completed', result: { counted: 3 }, attempt: 1 });
    expect(await types.counted(id)).toEqual([1, 2, 3]);
    const [run] = types.counting.runs;
    expect(run).toMatchObject({
      taskId: id,
      clientId: 'cli_test',
      attempt: 1,
      input: { upTo: 3 },
      cursor: { done: 3 },
    });
    expect(run!.input).toBeInstanceOf(types.counting.input);
    expect(await types.lab.faults()).toEqual([]);
  });

  it.each([
    [
      'a DomainError fails it with its code',
      new DomainError('context_length_exceeded', 'too long'),
      'context_length_exceeded',
      0,
    ],
    ['any other error fails it with server_error, and is logged', new TypeError('a bug'), 'server_error', 1],
  ])('%s', async (_, error, code, faults) => {
    const logged: unknown[] = [];
    types.lab.notices.on('task.fault', (notice) => void logged.push(notice.error));
    types.counting.before = (_run, step) => {
      if (step === 2) throw error;
    };
    await types.start();
    const { id } = await types.create(3);
    const task = await types.ended(id);
    expect(task).toMatchObject({ status: 'failed', error: { code } });
    expect(logged).toEqual(faults === 0 ? [] : [error]);
    expect((await types.lab.types(id)).slice(-3)).toEqual(['test.count.counted', 'error', 'response.failed']);
  });

  it('R3: a cancel stops it between its steps; what it saves afterwards is refused', async () => {
    let release = (): void => undefined;
    let held: Promise<void> | null = null;
    types.counting.before = (_, step) =>
      step === 3 ? (held = new Promise((resolve) => (release = resolve))) : undefined;
    await types.start();
    const { id } = await types.create(5);
    await waitFor('the third step', () => held !== null);
    const cancelled = types.lab.cancellation.cancel(id);
    const [run] = types.counting.runs;
    await waitFor('the signal', () => run!.signal.aborted);
    await expect(run!.save({ done: 99 })).rejects.toMatchObject({ name: 'StaleClaim' });
    release();
    expect((await cancelled).status).toBe('cancelled');
    expect(await types.counted(id)).toEqual([1, 2]);
    expect(await types.lab.faults()).toEqual([]);
  });

  it('runs as many at a time as it has seats', async () => {
    let most = 0;
    let now = 0;
    types.counting.before = async () => {
      most = Math.max(most, (now += 1));
      await new Promise(setImmediate);
      now -= 1;
    };
    await types.start();
    const tasks = [];
    for (let i = 0; i < 6; i++) tasks.push(await types.create(3));
    for (const { id } of tasks) expect((await types.ended(id)).status).toBe('completed');
    expect(most).toBe(2);
  });
});

describe('a crash in the third of five steps (CASES BL-01, BL-27)', () => {
  it.each([
    ['fail', 'failed', 1, [1, 2], [1, 2]],
    ['retry', 'completed', 2, [1, 2, 1, 2, 3, 4, 5], [1, 2, 1, 2, 3, 4, 5]],
    ['resume', 'completed', 2, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]],
  ] as const)('%s: it is %s in attempt %i, and the steps were %j', async (policy, status, attempt, steps, counted) => {
    const id = await heldAt(3, policy);
    const key = types.counting.runs[0]!.effectKey;
    types = await types.crashed();
    const keys: string[] = [];
    types.counting.before = (run) => void keys.push(run.effectKey);
    await types.start();
    const task = await types.ended(id);
    expect(task).toMatchObject({ status, attempt, error: status === 'failed' ? { code: 'server_restarted' } : null });
    expect(types.steps(id)).toEqual(steps);
    expect(await types.counted(id)).toEqual(counted);
    expect(types.counting.runs.map(({ attempt: each }) => each)).toEqual(status === 'failed' ? [] : [2]);
    // The step that was cut off has the name that it had; no two steps share one.
    expect(keys.includes(key)).toBe(status !== 'failed');
    expect(new Set(keys).size).toBe(keys.length);
    expect(await types.lab.faults()).toEqual([]);
  });

  it('resume: again and again; no step whose cursor is on disk is done twice', async () => {
    const id = await heldAt(2, 'resume');
    for (const step of [3, 4, 5]) {
      types = await types.crashed();
      let isHeld = false;
      types.counting.before = (_, at) => {
        isHeld ||= at === step;
        return at === step ? new Promise<void>(() => undefined) : undefined;
      };
      await types.start();
      await waitFor(`step ${step}`, () => isHeld);
    }
    types = await types.crashed();
    await types.start();
    expect(await types.ended(id)).toMatchObject({ status: 'completed', attempt: 5, result: { counted: 5 } });
    expect(types.steps(id)).toEqual([1, 2, 3, 4, 5]);
    expect(await types.lab.faults()).toEqual([]);
  });

  it('without its extension it waits, and goes on when that is back', async () => {
    const id = await heldAt(3, 'resume');
    types = await types.crashed(new CountingType('test.other'));
    await types.start();
    expect((await types.lab.task(id)).status).toBe('running');
    types = await types.crashed();
    await types.start();
    expect((await types.ended(id)).status).toBe('completed');
    expect(await types.counted(id)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('the registry of task types (HOUSE 3.4)', () => {
  it('names both sides where a type is taken', () => {
    const again = (): void => types.types.register('another', new CountingType());
    expect(again).toThrow(TaskTypeTaken);
    expect(again).toThrow('"test.count" is registered by the test already, and another wants it');
    const scripted = (): void => types.types.register('another', new CountingType('scripted'));
    expect(scripted).toThrow('"scripted" is registered by the service itself already, and another wants it');
  });

  it.each([
    ['a name that is none', new CountingType('Not A Name')],
    ["a name of the service's own", new CountingType('response.mine')],
    ['no seat', Object.assign(new CountingType('test.a'), { concurrency: 0 })],
    ['too many seats', Object.assign(new CountingType('test.b'), { concurrency: 65 })],
    ['an unknown policy', Object.assign(new CountingType('test.c'), { onRestart: 'maybe' as OnRestart })],
  ])('refuses %s in the name of its owner', (_, type) => {
    expect(() => types.types.register('my-extension', type)).toThrow(/^my-extension: task type/);
    expect(types.types.names()).toEqual(['test.count']);
  });
});
