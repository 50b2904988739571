import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskDraft } from '../../../src/tasks/task-drafts.js';
import { StaleClaim } from '../../../src/tasks/tasks.errors.js';
import { claimOf, deferred, TaskLab } from '../../support/task-lab.js';
import { waitFor } from '../../support/wait-for.js';

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open({ LMSP_CANCEL_GRACE_SECONDS: '1', LMSP_CANCEL_WAIT_MS: '20000' });
});
afterEach(async () => {
  await lab.runner.idle();
  expect(lab.handler.taken, 'seats never leak').toBe(0);
  expect(await lab.faults()).toEqual([]);
  await lab.close();
});

const WORD = { events: [{ type: 'scripted.word', payload: {} }], snapshot: null };

async function running(overrides: Partial<TaskDraft> = {}): Promise<string> {
  const { id } = await lab.create(overrides);
  await lab.runner.start();
  await waitFor('running', async () => (await lab.task(id)).status === 'running');
  return id;
}

async function tail(id: string): Promise<string[]> {
  return (await lab.types(id)).slice(2);
}

describe('cancel (WIRE B4)', () => {
  it('row 9: a queued task is cancelled at once, and is not claimed any more', async () => {
    const { id } = await lab.create();
    expect(await lab.cancellation.cancel(id)).toMatchObject({ status: 'cancelled', attempt: 0 });
    await lab.runner.start();
    await lab.runner.idle();
    expect(await tail(id)).toEqual(['response.cancelled']);
  });

  it('rows 10 and 11: a running task stops, and the answer waits for it', async () => {
    lab.handler.script = (run) =>
      new Promise((resolve) => run.signal.addEventListener('abort', () => resolve({ kind: 'aborted' })));
    const id = await running();
    expect(await lab.cancellation.cancel(id)).toMatchObject({ status: 'cancelled', owner: null, error: null });
    expect(await tail(id)).toEqual(['response.in_progress', 'response.in_progress', 'response.cancelled']);
  });

  it.each([
    ['finished', async () => ({ kind: 'completed', result: { answer: 42 } })],
    ['reached its limit', async () => ({ kind: 'limited' })],
    ['failed', () => Promise.reject(new Error('late'))],
    ['lost its runner', async () => ({ kind: 'lost', message: 'gone', alone: true })],
  ] as [string, () => ReturnType<typeof lab.handler.script>][])(
    'R3, row 11: a run that %s after the cancel is cancelled; what it came to is dropped',
    async (_, end) => {
      lab.handler.script = async (run) => {
        await new Promise((resolve) => run.signal.addEventListener('abort', resolve));
        return end();
      };
      const id = await running();
      expect(await lab.cancellation.cancel(id)).toMatchObject({ status: 'cancelled', result: null, error: null });
      expect(await tail(id)).toEqual(['response.in_progress', 'response.in_progress', 'response.cancelled']);
    },
  );

  it('row 11: a task that is loading is cancelled without waiting for the load', async () => {
    lab.handler.resident = false;
    lab.handler.ready = new Promise(() => undefined);
    const { id } = await lab.create();
    await lab.runner.start();
    await waitFor('loading', async () => (await lab.task(id)).status === 'loading');
    expect(await lab.cancellation.cancel(id)).toMatchObject({ status: 'cancelled' });
    expect(await tail(id)).toEqual(['response.in_progress', 'response.in_progress', 'response.cancelled']);
  });

  it('row 11: a load that ends in the moment of the cancel does not bring the task back', async () => {
    const ready = deferred();
    lab.handler.resident = false;
    lab.handler.ready = ready.promise;
    const { id } = await lab.create();
    await lab.runner.start();
    await waitFor('loading', async () => (await lab.task(id)).status === 'loading');
    const cancelled = lab.cancellation.cancel(id);
    ready.resolve();
    expect(await cancelled).toMatchObject({ status: 'cancelled' });
    expect(await tail(id)).not.toContain('response.completed');
  });

  it.each(['running', 'loading', 'unowned', 'cancelling'] as const)(
    'a task found %s that no run of this process holds is cancelled by the service itself',
    async (found) => {
      const { id } = await lab.bring(found);
      const before = await lab.types(id);
      expect(await lab.cancellation.cancel(id)).toMatchObject({ status: 'cancelled' });
      const appended = found === 'cancelling' ? ['response.cancelled'] : ['response.in_progress', 'response.cancelled'];
      expect((await lab.types(id)).slice(before.length)).toEqual(appended);
    },
  );

  it('a run of a former attempt is not mistaken for the one that holds the task', async () => {
    const gate = deferred();
    lab.handler.script = () => gate.promise.then(() => ({ kind: 'completed' }));
    const id = await running();
    const claim = claimOf(await lab.task(id));
    await lab.write((tx) => lab.lifecycle.interruptLost(tx, claim, { interruptions: 1, suspicion: 2 }));
    await lab.write((tx) => lab.lifecycle.takeUp(tx, id, 'run_2'));
    expect(await lab.cancellation.cancel(id)).toMatchObject({ status: 'cancelled', attempt: 2 });
    gate.resolve();
  });

  it('a cancelled task is answered as it is, and a second cancel of a cancelling one waits for the same end', async () => {
    const gate = deferred();
    lab.handler.script = () => gate.promise.then(() => ({ kind: 'aborted' }));
    const id = await running();
    const first = lab.cancellation.cancel(id);
    await waitFor('cancelling', async () => (await lab.task(id)).status === 'cancelling');
    const second = lab.cancellation.cancel(id);
    gate.resolve();
    const answers = await Promise.all([first, second]);
    expect(answers.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    const before = await lab.found(id);
    expect(await lab.cancellation.cancel(id)).toEqual(before.task);
    expect(await lab.found(id)).toEqual(before);
  });

  it.each(['completed', 'failed'] as const)('row 14: a task that is %s is not cancellable', async (found) => {
    const { id } = await lab.bring(found);
    const before = await lab.found(id);
    await expect(lab.cancellation.cancel(id)).rejects.toMatchObject({ code: 'task_not_cancellable' });
    expect(await lab.found(id)).toEqual(before);
  });

  it('a task that does not exist is not found', async () => {
    await expect(lab.cancellation.cancel('task_absent')).rejects.toMatchObject({ code: 'task_not_found' });
  });

  it('LMSP_CANCEL_WAIT_MS: a run that takes longer is answered as cancelling', async () => {
    await lab.close();
    lab = await TaskLab.open({ LMSP_CANCEL_WAIT_MS: '0' });
    const gate = deferred();
    lab.handler.script = () => gate.promise.then(() => ({ kind: 'aborted' }));
    const id = await running();
    expect(await lab.cancellation.cancel(id)).toMatchObject({ status: 'cancelling', owner: 'run_1' });
    gate.resolve();
    await lab.stream.ended(id, new AbortController().signal);
    expect((await lab.task(id)).status).toBe('cancelled');
  });

  it('LMSP_CANCEL_GRACE_SECONDS: a handler that does not end is fenced off, and none of its later writes holds', async () => {
    const gate = deferred();
    const late = deferred<unknown>();
    lab.handler.script = async (run) => {
      await gate.promise;
      late.resolve(await run.append(WORD).catch((error: unknown) => error));
      return { kind: 'completed' };
    };
    const id = await running();
    expect(await lab.cancellation.cancel(id)).toMatchObject({ status: 'cancelled' });
    const before = await lab.found(id);
    gate.resolve();
    expect(await late.promise).toBeInstanceOf(StaleClaim);
    await lab.runner.idle();
    expect(await lab.found(id)).toEqual(before);
  });

  it('R3: a run whose step is refused after the cancel ends as cancelled, not as failed', async () => {
    lab.handler.script = async (run) => {
      for (;;) await run.append(WORD);
    };
    const id = await running();
    await waitFor('some steps', async () => (await lab.task(id)).lastSequenceNumber > 10);
    expect(await lab.cancellation.cancel(id)).toMatchObject({ status: 'cancelled', error: null });
  });

  it('CASES BL-15: a cancel on a full disk is refused whole, and holds once there is room', async () => {
    lab.handler.script = (run) =>
      new Promise((resolve) => run.signal.addEventListener('abort', () => resolve({ kind: 'aborted' })));
    const id = await running();
    const before = await lab.found(id);
    await lab.fillDisk();
    await expect(lab.cancellation.cancel(id)).rejects.toMatchObject({ code: 'storage_full' });
    expect(await lab.found(id)).toEqual(before);
    expect(lab.runner.runs()[0]?.abort.signal.aborted).toBe(false);
    await lab.freeDisk();
    expect(await lab.cancellation.cancel(id)).toMatchObject({ status: 'cancelled' });
  });
});
