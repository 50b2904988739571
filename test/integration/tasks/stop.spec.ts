import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskDraft } from '../../../src/tasks/task-drafts.js';
import type { TaskRun } from '../../../src/tasks/task-handlers.js';
import type { Task } from '../../../src/tasks/task.js';
import { deferred, TaskLab } from '../../support/task-lab.js';
import { waitFor } from '../../support/wait-for.js';

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open({ LMSP_CANCEL_GRACE_SECONDS: '1', LMSP_CANCEL_WAIT_MS: '0' });
});
afterEach(async () => {
  expect(await lab.faults()).toEqual([]);
  await lab.close();
});

const WORD = { events: [{ type: 'scripted.word', payload: {} }], snapshot: 'word' };

function untilAborted(run: TaskRun): Promise<{ kind: 'aborted' }> {
  return new Promise((resolve) => run.signal.addEventListener('abort', () => resolve({ kind: 'aborted' })));
}

async function running(overrides: Partial<TaskDraft> = {}): Promise<Task> {
  const { id } = await lab.create(overrides);
  await lab.runner.start();
  await waitFor('running', async () => (await lab.task(id)).status === 'running');
  return lab.task(id);
}

async function loading(overrides: Partial<TaskDraft> = {}): Promise<Task> {
  lab.handler.resident = false;
  lab.handler.ready = new Promise(() => undefined);
  const { id } = await lab.create(overrides);
  await lab.runner.start();
  await waitFor('loading', async () => (await lab.task(id)).status === 'loading');
  return lab.task(id);
}

async function stop(graceMs = 0): Promise<void> {
  await lab.stop.stopClaiming();
  await lab.stop.finishForeground(graceMs);
  await lab.stop.endRuns();
}

describe('the clean stop (WIRE B6)', () => {
  it('row 12: foreground tasks that wait fail as soon as claiming stops; background ones wait on', async () => {
    const waiting = await lab.create();
    const before = await lab.found(waiting.id);
    const foreground = await lab.create({ background: false });
    await lab.stop.stopClaiming();
    expect(await lab.task(foreground.id)).toMatchObject({ status: 'failed', error: { code: 'server_shutting_down' } });
    expect((await lab.types(foreground.id)).slice(2)).toEqual(['error', 'response.failed']);
    expect(await lab.found(waiting.id)).toEqual(before);
    lab.runner.wake('scripted', null);
    await lab.stop.endRuns();
    expect(await lab.found(waiting.id)).toEqual(before);
  });

  it('foreground work that ends within the grace ends as it should; the stop waits for it', async () => {
    const gate = deferred();
    lab.handler.script = () => gate.promise.then(() => ({ kind: 'completed' }));
    const { id } = await running({ background: false });
    await lab.stop.stopClaiming();
    const finished = lab.stop.finishForeground(60_000);
    gate.resolve();
    await finished;
    expect((await lab.task(id)).status).toBe('completed');
    await lab.stop.endRuns();
  });

  it.each([
    ['row 8: running', running],
    ['row 5: loading', loading],
  ])('%s foreground work fails with server_shutting_down at the end of the grace', async (_, begin) => {
    lab.handler.script = untilAborted;
    const { id } = await begin({ background: false });
    await stop();
    expect(await lab.task(id)).toMatchObject({
      status: 'failed',
      error: { code: 'server_shutting_down' },
      owner: null,
    });
    expect((await lab.types(id)).slice(-2)).toEqual(['error', 'response.failed']);
  });

  it('row 11: foreground work that is being cancelled becomes cancelled, not failed', async () => {
    const gate = deferred();
    lab.handler.script = () => gate.promise.then(() => ({ kind: 'aborted' }));
    const { id } = await running({ background: false });
    expect((await lab.cancellation.cancel(id)).status).toBe('cancelling');
    await lab.stop.stopClaiming();
    const finished = lab.stop.finishForeground(0);
    gate.resolve();
    await finished;
    expect((await lab.task(id)).status).toBe('cancelled');
    await lab.stop.endRuns();
  });

  it('foreground work that ignores the end of the grace fails all the same', async () => {
    lab.handler.script = () => new Promise(() => undefined);
    const { id } = await running({ background: false });
    await stop();
    expect(await lab.task(id)).toMatchObject({ status: 'failed', error: { code: 'server_shutting_down' } });
  });

  it.each([
    ['running', running],
    ['loading', loading],
  ])('nothing in the background is cancelled or failed: a task that is %s keeps its status', async (status, begin) => {
    lab.handler.script = untilAborted;
    const before = await begin();
    const events = await lab.events(before.id);
    await stop();
    expect(await lab.task(before.id)).toEqual({ ...before, owner: null });
    expect(before.status).toBe(status);
    expect(await lab.events(before.id)).toEqual(events);
    expect(lab.handler.taken, 'seats never leak').toBe(0);
  });

  it('a background task that is cancelling keeps its status too; recovery cancels it', async () => {
    const { id } = await lab.bring('cancelling');
    await stop();
    expect(await lab.task(id)).toMatchObject({ status: 'cancelling', owner: null });
    lab = await lab.reopened();
    await lab.recovery.run(() => undefined);
    expect((await lab.task(id)).status).toBe('cancelled');
  });

  it.each([
    ['completes', async () => ({ kind: 'completed' })],
    ['throws', () => Promise.reject(new Error('late'))],
    ['loses its runner', async () => ({ kind: 'lost', message: 'gone', alone: true })],
  ] as [string, () => ReturnType<typeof lab.handler.script>][])(
    'a background run that %s after the stop has begun to end the runs writes no status',
    async (_, end) => {
      lab.handler.script = async (run) => {
        await untilAborted(run);
        return end();
      };
      const before = await running();
      await stop();
      expect(await lab.task(before.id)).toEqual({ ...before, owner: null });
    },
  );

  it('invariant 8: the last steps of the background runs are on disk when the stop has ended', async () => {
    lab.handler.script = async (run) => {
      await untilAborted(run);
      for (let i = 0; i < 10; i += 1) run.append(WORD).catch(() => undefined);
      return { kind: 'aborted' };
    };
    const { id } = await running();
    await stop();
    expect((await lab.types(id)).filter((type) => type === 'scripted.word')).toHaveLength(10);
    expect(await lab.task(id)).toMatchObject({ status: 'running', owner: null, lastSequenceNumber: 12 });
  });

  it('a stop in the middle of a claim leaves no owner behind, and no run', async () => {
    lab.handler.script = untilAborted;
    for (let round = 0; round < 30; round += 1) {
      await lab.create();
      await lab.runner.start();
      for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate);
      await stop();
      const owned = await lab.store.reader.query('select id from tasks where owner is not null');
      expect(owned, `stopped after ${round} turns`).toEqual([]);
      expect(lab.runner.runs()).toEqual([]);
      lab = await lab.reopened({ LMSP_CANCEL_GRACE_SECONDS: '1' });
      lab.handler.script = untilAborted;
    }
  });

  it('stopped with runs and waiting tasks, started again: all complete, none is charged an interruption', async () => {
    lab.handler.seats = 4;
    lab.handler.script = untilAborted;
    const drafts = Array.from({ length: 24 }, () => lab.draft());
    await lab.write((tx) => lab.lifecycle.enqueue(tx, drafts));
    await lab.runner.start();
    await waitFor('four runs', () => lab.runner.runs().length === 4);
    await stop();
    lab = await lab.reopened();
    await lab.recovery.run(() => undefined);
    await lab.runner.start();
    for (const { id } of drafts) {
      await lab.stream.ended(id, new AbortController().signal);
      expect(await lab.task(id)).toMatchObject({ status: 'completed', interruptions: 0 });
    }
  });
});
