import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/errors/index.js';
import { UNUSABLE_SNAPSHOTS, type TaskRun } from '../../../src/tasks/task-handlers.js';
import { readSnapshot } from '../../../src/tasks/task-log.js';
import type { Task } from '../../../src/tasks/task.js';
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

const step = (word: string) => ({ events: [{ type: 'scripted.word', payload: { word } }], snapshot: word });

/** A resumable task that a crash has left: running, with one word on disk, and recovered. */
async function leftover(overrides: Parameters<TaskLab['bring']>[1] = {}): Promise<Task> {
  const task = await lab.bring('running', { onRestart: 'resume', ...overrides });
  await lab.journal.append({ taskId: task.id, attempt: 1, owner: 'run_1' }, step('one'));
  await lab.recovery.run(() => undefined);
  return lab.task(task.id);
}

const ended = (id: string): Promise<unknown> => lab.stream.ended(id, new AbortController().signal);

describe('take-up (WIRE B4 row 20)', () => {
  it('R6: a task found running goes on from its snapshot in the next attempt, and its numbers go on', async () => {
    const { id } = await leftover();
    let seen: { task: Task; resumed: boolean; lines: string[] } | undefined;
    lab.handler.script = async ({ task, resumed, append }) => {
      seen = { task, resumed, lines: await readSnapshot(lab.store.reader, id, task.startCount) };
      await append(step('two'));
      return { kind: 'completed' };
    };
    await lab.runner.start();
    await ended(id);
    expect(seen).toMatchObject({ resumed: true, lines: ['one'], task: { attempt: 2, owner: 'run_1', startCount: 0 } });
    expect(await lab.types(id)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
      'scripted.word',
      'response.in_progress',
      'scripted.word',
      'response.completed',
    ]);
    expect(await readSnapshot(lab.store.reader, id, 0)).toEqual(['one', 'two']);
  });

  it('the first new step ends the count of interruptions; take-up alone does not', async () => {
    const { id } = await leftover();
    const gate = deferred();
    lab.handler.script = async ({ append }) => {
      await gate.promise;
      await append(step('two'));
      return { kind: 'completed' };
    };
    await lab.runner.start();
    await waitFor('take-up', async () => (await lab.task(id)).attempt === 2);
    expect((await lab.task(id)).interruptions).toBe(1);
    gate.resolve();
    await ended(id);
    expect((await lab.task(id)).interruptions).toBe(0);
  });

  it('a new start of a task that was interrupted keeps its count', async () => {
    const { id } = await lab.bring('running');
    await lab.recovery.run(() => undefined);
    lab.handler.script = async ({ append }) => {
      await append(step('one'));
      return { kind: 'completed' };
    };
    await lab.runner.start();
    await ended(id);
    expect((await lab.task(id)).interruptions).toBe(1);
  });

  it('WIRE B6: what waits to be taken up comes before what is queued, each in order', async () => {
    const queued = [await lab.create(), await lab.create()];
    const waiting = [await leftover(), await leftover()];
    const order: string[] = [];
    lab.handler.seats = 1;
    lab.handler.script = async ({ task }) => {
      order.push(task.id);
      return { kind: 'completed' };
    };
    await lab.runner.start();
    await Promise.all([...waiting, ...queued].map(({ id }) => ended(id)));
    expect(order).toEqual([...waiting, ...queued].map(({ id }) => id));
  });

  it.each(UNUSABLE_SNAPSHOTS)(
    'row 17: a snapshot that is of no use (%s) means a new start from nothing',
    async (why) => {
      const { id } = await leftover();
      const reasons: string[] = [];
      lab.notices.on('task.snapshot_unusable', ({ reason }) => void reasons.push(reason));
      lab.handler.takeUp = async () => why;
      const starts: [boolean, number][] = [];
      lab.handler.script = async ({ resumed, task }) => {
        starts.push([resumed, task.startCount]);
        return { kind: 'completed' };
      };
      await lab.runner.start();
      await ended(id);
      expect(starts).toEqual([[false, 1]]);
      expect(reasons).toEqual([why]);
      expect((await lab.types(id)).slice(4)).toEqual([
        'response.in_progress',
        'response.queued',
        'response.in_progress',
        'response.completed',
      ]);
      expect((await lab.task(id)).attempt).toBe(2);
    },
  );

  it('row 17: so does a snapshot that turns out to be of no use once the run looks at it', async () => {
    const { id } = await leftover();
    const starts: boolean[] = [];
    lab.handler.script = async ({ resumed }: TaskRun) => {
      starts.push(resumed);
      return resumed ? { kind: 'unusable', reason: 'output' } : { kind: 'completed' };
    };
    await lab.runner.start();
    await ended(id);
    expect(starts).toEqual([true, false]);
    expect(await lab.task(id)).toMatchObject({ status: 'completed', startCount: 1, attempt: 3 });
  });

  it('row 13: a model that cannot be loaded fails it with the code of the load', async () => {
    const { id } = await leftover();
    lab.handler.resident = false;
    lab.handler.ready = Promise.reject(new DomainError('model_load_failed', 'the file is broken'));
    lab.handler.ready.catch(() => undefined);
    await lab.runner.start();
    await ended(id);
    expect((await lab.task(id)).error).toMatchObject({ code: 'model_load_failed' });
    expect((await lab.types(id)).slice(-2)).toEqual(['error', 'response.failed']);
  });

  it('R3: a cancel while it waits for its seat writes both events at once, and the run never begins', async () => {
    const { id } = await leftover();
    const ready = deferred();
    lab.handler.resident = false;
    lab.handler.ready = ready.promise;
    let runs = 0;
    lab.handler.script = async () => {
      runs += 1;
      return { kind: 'completed' };
    };
    // What it would look at is gone with the end.
    lab.handler.takeUp = () => Promise.reject(new Error('looked at the snapshot of an ended task'));
    const faults: unknown[] = [];
    lab.notices.on('task.fault', ({ error }) => void faults.push(error));
    await lab.runner.start();
    await waitFor('the claim', () => lab.runner.runs().length === 1);
    expect((await lab.task(id)).status).toBe('running');
    expect((await lab.cancellation.cancel(id)).status).toBe('cancelled');
    expect((await lab.types(id)).slice(-2)).toEqual(['response.in_progress', 'response.cancelled']);
    ready.resolve();
    await lab.runner.idle();
    expect(runs).toBe(0);
    expect(faults).toEqual([]);
  });

  it('a stop while it waits for its seat leaves it as it is, and the next start takes it up', async () => {
    const { id } = await leftover();
    lab.handler.resident = false;
    lab.handler.ready = new Promise(() => undefined);
    await lab.runner.start();
    await waitFor('the claim', () => lab.runner.runs().length === 1);
    const before = await lab.found(id);
    await lab.stop.stopClaiming();
    await lab.stop.endRuns();
    expect(await lab.found(id)).toEqual(before);
    lab = await lab.reopened();
    expect((await lab.recovery.run(() => undefined)).kept).toBe(1);
    expect(await lab.found(id)).toEqual(before);
    await lab.runner.start();
    await ended(id);
    expect(await lab.task(id)).toMatchObject({ status: 'completed', attempt: 2, interruptions: 1 });
  });

  it('after a clean stop its snapshot is shown by an event before it goes on', async () => {
    const { id } = await leftover();
    lab.handler.script = async ({ append, signal }) => {
      await append(step('two'));
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { kind: 'aborted' };
    };
    await lab.runner.start();
    await waitFor('a step', async () => (await lab.types(id)).at(-1) === 'scripted.word');
    await lab.stop.stopClaiming();
    await lab.stop.endRuns();
    lab = await lab.reopened();
    expect((await lab.recovery.run(() => undefined)).resumed).toBe(1);
    expect(await lab.task(id)).toMatchObject({ status: 'running', interruptions: 0 });
    expect((await lab.types(id)).at(-1)).toBe('response.in_progress');
    await lab.runner.start();
    await ended(id);
  });

  it('a task whose row is damaged holds up no other, is told once, and is left as it is', async () => {
    const { id } = await leftover();
    const before = await lab.found(id);
    const other = await leftover();
    const faults: string[] = [];
    lab.notices.on('task.fault', ({ task_id }) => void faults.push(task_id));
    lab.handler.takeUp = (_tx, task) => (task.id === id ? Promise.reject(new Error('damaged')) : Promise.resolve(null));
    await lab.runner.start();
    await ended(other.id);
    await lab.runner.idle();
    expect(faults).toEqual([id]);
    expect(await lab.found(id)).toEqual(before);
  });
});
