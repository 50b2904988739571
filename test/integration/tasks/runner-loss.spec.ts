import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/errors/index.js';
import type { TaskDraft } from '../../../src/tasks/task-drafts.js';
import type { TaskOutcome, TaskRun } from '../../../src/tasks/task-handlers.js';
import { deferred, TaskLab } from '../../support/task-lab.js';
import { waitFor } from '../../support/wait-for.js';

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open();
});
afterEach(async () => {
  await lab.runner.idle();
  expect(lab.handler.taken, 'seats never leak').toBe(0);
  expect(await lab.faults()).toEqual([]);
  await lab.close();
});

const lost = (alone: boolean): TaskOutcome => ({ kind: 'lost', message: 'the runner ended', alone });
const step = { events: [{ type: 'scripted.word', payload: {} }], snapshot: 'line' };
const ended = (id: string): Promise<unknown> => lab.stream.ended(id, new AbortController().signal);
const tail = async (id: string): Promise<string[]> => (await lab.types(id)).slice(2);

/** Outcomes of the task's runs, one after the other; the last one is `completed`. Each makes `steps` steps first. */
function outcomes(
  id: () => string,
  ...list: [steps: number, outcome: TaskOutcome][]
): (run: TaskRun) => Promise<TaskOutcome> {
  const rest = [...list];
  return async ({ task, append }) => {
    const next = task.id === id() ? rest.shift() : undefined;
    for (let i = 0; i < (next?.[0] ?? 0); i += 1) await append(step);
    return next?.[1] ?? { kind: 'completed' };
  };
}

describe('the loss of a runner (WIRE B4 row 15)', () => {
  it.each([
    ['retry', ['response.queued', 'response.in_progress'], { startCount: 1, attempt: 2 }],
    ['resume', ['response.in_progress'], { startCount: 0, attempt: 2 }],
  ] as const)(
    'a background task with policy %s goes on; it was alone and is charged',
    async (onRestart, moved, row) => {
      const { id } = await lab.create({ onRestart });
      lab.handler.script = outcomes(() => id, [0, lost(true)]);
      await lab.runner.start();
      await ended(id);
      expect(await tail(id)).toEqual(['response.in_progress', ...moved, 'response.completed']);
      expect(await lab.task(id)).toMatchObject({ ...row, interruptions: 1, suspicion: 2 });
    },
  );

  it.each([
    ['has policy fail', { onRestart: 'fail' }],
    ['is in the foreground', { background: false, onRestart: 'retry' }],
  ] as [string, Partial<TaskDraft>][])('row 8: a task that %s fails with model_error', async (_, overrides) => {
    const { id } = await lab.create(overrides);
    lab.handler.script = outcomes(() => id, [0, lost(false)]);
    await lab.runner.start();
    await ended(id);
    expect(await tail(id)).toEqual(['response.in_progress', 'error', 'response.failed']);
    expect((await lab.task(id)).error).toMatchObject({ code: 'model_error', message: 'the runner ended' });
  });

  it.each(['retry', 'resume'] as const)(
    'WIRE B6: one that was not alone is charged nothing, but suspect (%s)',
    async (onRestart) => {
      const { id } = await lab.create({ onRestart, maxInterruptions: 1 });
      lab.handler.script = outcomes(() => id, [0, lost(false)], [0, lost(false)]);
      await lab.runner.start();
      await ended(id);
      expect(await lab.task(id)).toMatchObject({ status: 'completed', interruptions: 0, suspicion: 1, attempt: 3 });
    },
  );

  it.each(['retry', 'resume'] as const)(
    'row 8: the second loss alone with no step between fails it (%s)',
    async (onRestart) => {
      const { id } = await lab.create({ onRestart, maxInterruptions: 9 });
      lab.handler.script = outcomes(() => id, [3, lost(false)], [2, lost(true)], [0, lost(true)]);
      await lab.runner.start();
      await ended(id);
      const { status, attempt, error, interruptions } = await lab.task(id);
      expect({ status, attempt, code: error?.code, interruptions }).toEqual({
        status: 'failed',
        attempt: 3,
        code: 'model_error',
        interruptions: 1,
      });
    },
  );

  it('a resumed task that makes a step between its losses never fails by them', async () => {
    const { id } = await lab.create({ onRestart: 'resume' });
    const losses = Array.from({ length: 30 }, (): [number, TaskOutcome] => [1, lost(true)]);
    lab.handler.script = outcomes(() => id, ...losses);
    await lab.runner.start();
    await ended(id);
    expect(await lab.task(id)).toMatchObject({ status: 'completed', attempt: 31, interruptions: 1 });
    expect((await tail(id)).filter((type) => type === 'scripted.word')).toHaveLength(30);
  });

  it.each([
    ['row 12', 'retry'],
    ['row 13', 'resume'],
  ] as const)(
    '%s: the last interruption that is allowed fails it with retry_limit_exceeded (%s)',
    async (_, onRestart) => {
      const { id } = await lab.create({ onRestart, maxInterruptions: 1 });
      lab.handler.script = outcomes(() => id, [1, lost(true)]);
      await lab.runner.start();
      await ended(id);
      expect((await lab.task(id)).error?.code).toBe('retry_limit_exceeded');
      expect((await tail(id)).slice(-2)).toEqual(['error', 'response.failed']);
    },
  );

  it('R3: one that is being cancelled becomes cancelled', async () => {
    const gate = deferred();
    lab.handler.script = () => gate.promise.then(() => lost(true));
    const { id } = await lab.create();
    await lab.runner.start();
    await waitFor('the run', async () => (await lab.task(id)).status === 'running');
    await lab.write((tx) => lab.lifecycle.requestCancel(tx, id));
    gate.resolve();
    await ended(id);
    expect((await lab.task(id)).status).toBe('cancelled');
  });
});

const ONE_OF_SEVERAL = { interruptions: 0, suspicion: 1 } as const;

describe('suspects (WIRE B6)', () => {
  it('run before all others, one at a time and beside nothing else, until they have made 8 steps', async () => {
    const suspects = [await lab.bring('running'), await lab.bring('running')];
    for (const { id } of suspects) {
      await lab.write((tx) =>
        lab.lifecycle.requeueLost(tx, { taskId: id, attempt: 1, owner: 'run_1' }, { interruptions: 0, suspicion: 1 }),
      );
    }
    const others = [await lab.create(), await lab.create()];
    const running = new Set<string>();
    const seen: string[][] = [];
    const gates = new Map([...suspects, ...others].map(({ id }) => [id, deferred()]));
    lab.handler.script = async ({ task, append }) => {
      running.add(task.id);
      seen.push([...running]);
      const steps = suspects.some(({ id }) => id === task.id) ? 8 : 1;
      for (let i = 0; i < steps; i += 1) await append(step);
      await gates.get(task.id)?.promise;
      running.delete(task.id);
      return { kind: 'completed' };
    };
    await lab.runner.start();
    await waitFor('all four run', () => running.size === 4);
    expect(seen.map((ids) => ids.at(-1))).toEqual([...suspects, ...others].map(({ id }) => id));
    // The first was alone until its eighth step; then the second was let in, and the others only after its eighth.
    expect(seen.map((ids) => ids.length)).toEqual([1, 2, 3, 4]);
    for (const { id } of suspects) expect((await lab.task(id)).suspicion).toBe(0);
    for (const gate of gates.values()) gate.resolve();
    await Promise.all([...suspects, ...others].map(({ id }) => ended(id)));
  });

  it('come in the order of what is held against them: who was alone at the last loss first', async () => {
    const order: string[] = [];
    const suspects = [await lab.bring('running'), await lab.bring('running'), await lab.bring('running')];
    for (const [i, { id }] of suspects.entries()) {
      const blame = i === 1 ? { interruptions: 1 as const, suspicion: 2 as const } : ONE_OF_SEVERAL;
      await lab.write((tx) => lab.lifecycle.requeueLost(tx, { taskId: id, attempt: 1, owner: 'run_1' }, blame));
    }
    lab.handler.script = async ({ task }) => {
      order.push(task.id);
      return { kind: 'completed' };
    };
    await lab.runner.start();
    await Promise.all(suspects.map(({ id }) => ended(id)));
    expect(order).toEqual([1, 0, 2].map((i) => suspects[i]?.id));
  });

  it('keep others waiting while they have made fewer steps, and the end of the suspect lets them in', async () => {
    const suspect = await lab.bring('running', { onRestart: 'resume' });
    await lab.write((tx) =>
      lab.lifecycle.interruptLost(
        tx,
        { taskId: suspect.id, attempt: 1, owner: 'run_1' },
        { interruptions: 0, suspicion: 1 },
      ),
    );
    const other = await lab.create();
    const gate = deferred();
    const order: string[] = [];
    lab.handler.script = async ({ task, append }) => {
      order.push(task.id);
      if (task.id === suspect.id) {
        for (let i = 0; i < 7; i += 1) await append(step);
        await gate.promise;
      }
      return { kind: 'completed' };
    };
    await lab.runner.start();
    await waitFor(
      'seven steps',
      async () => (await lab.types(suspect.id)).filter((t) => t === 'scripted.word').length === 7,
    );
    lab.runner.wake('scripted', null);
    await lab.write((tx) => tx.query('select 1'));
    expect(order).toEqual([suspect.id]);
    gate.resolve();
    await ended(other.id);
    expect(order).toEqual([suspect.id, other.id]);
  });
});

describe('a runner that dies while it loads (WIRE B4 row 15)', () => {
  it('its waiting tasks stay loading, get the new owner without an event, and run', async () => {
    const ready = deferred();
    lab.handler.resident = false;
    lab.handler.ready = ready.promise;
    const owners: (string | null)[] = [];
    lab.handler.script = async ({ task }) => {
      owners.push(task.owner);
      return { kind: 'completed' };
    };
    const { id } = await lab.create();
    await lab.runner.start();
    await waitFor('loading', async () => (await lab.task(id)).status === 'loading');
    lab.handler.respawn('run_2');
    ready.resolve();
    await ended(id);
    expect(owners).toEqual(['run_2']);
    expect(await tail(id)).toEqual(['response.in_progress', 'response.in_progress', 'response.completed']);
    expect((await lab.task(id)).attempt).toBe(1);
  });
});

describe('a lane that is closed (WIRE B6, quarantine)', () => {
  it('row 12: foreground tasks that wait fail with the reason; background ones wait', async () => {
    lab.handler.closed = new DomainError('model_unavailable', 'its process died repeatedly');
    const foreground = await lab.create({ background: false, onRestart: 'fail' });
    const queued = await lab.create();
    const unowned = await lab.bring('unowned', { onRestart: 'resume' });
    const before = await Promise.all([queued, unowned].map(({ id }) => lab.found(id)));
    await lab.runner.start();
    await ended(foreground.id);
    expect((await lab.task(foreground.id)).error?.code).toBe('model_unavailable');
    expect(await Promise.all([queued, unowned].map(({ id }) => lab.found(id)))).toEqual(before);
    lab.handler.closed = null;
    lab.runner.wake('scripted', null);
    await Promise.all([ended(queued.id), ended(unowned.id)]);
  });
});
