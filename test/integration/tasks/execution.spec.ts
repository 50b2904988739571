import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/errors/index.js';
import type { TaskOutcome } from '../../../src/tasks/task-handlers.js';
import type { TaskDraft } from '../../../src/tasks/task-drafts.js';
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

async function endOf(overrides: Partial<TaskDraft> = {}): Promise<Task> {
  const { id } = await lab.create(overrides);
  await lab.runner.start();
  await lab.stream.ended(id, new AbortController().signal);
  return lab.task(id);
}

async function tail(id: string): Promise<string[]> {
  return (await lab.types(id)).slice(2);
}

const OUTCOMES: [string, () => Promise<TaskOutcome>, Partial<Task>, string[]][] = [
  [
    'row 6: completed, with its result',
    async () => ({ kind: 'completed', result: { answer: 42 } }),
    { status: 'completed', result: { answer: 42 } },
    ['response.completed'],
  ],
  [
    'row 6: completed without one',
    async () => ({ kind: 'completed' }),
    { status: 'completed', result: null },
    ['response.completed'],
  ],
  ['row 7: limited', async () => ({ kind: 'limited' }), { status: 'completed' }, ['response.incomplete']],
  [
    'row 8: failed',
    async () => ({ kind: 'failed', error: new DomainError('context_length_exceeded', 'too long').toBody() }),
    { status: 'failed', error: expect.objectContaining({ code: 'context_length_exceeded' }) },
    ['error', 'response.failed'],
  ],
  [
    'row 8: thrown as a DomainError',
    () => Promise.reject(new DomainError('model_error', 'NaN')),
    { status: 'failed', error: expect.objectContaining({ code: 'model_error', message: 'NaN' }) },
    ['error', 'response.failed'],
  ],
  [
    'row 8: thrown as anything else, whose words stay inside',
    () => Promise.reject(new Error('secret')),
    {
      status: 'failed',
      error: expect.objectContaining({ code: 'server_error', message: 'The task failed unexpectedly.' }),
    },
    ['error', 'response.failed'],
  ],
  [
    'row 8: thrown at once',
    () => {
      throw new Error('secret');
    },
    { status: 'failed', error: expect.objectContaining({ code: 'server_error' }) },
    ['error', 'response.failed'],
  ],
  [
    'row 8: given up unasked',
    async () => ({ kind: 'aborted' }),
    { status: 'failed', error: expect.objectContaining({ code: 'server_error' }) },
    ['error', 'response.failed'],
  ],
];

describe('the end of a run', () => {
  it.each(OUTCOMES)('WIRE B4 %s', async (_, script, expected, events) => {
    lab.handler.script = script;
    const task = await endOf();
    expect(task).toMatchObject({ ...expected, owner: null, attempt: 1, interruptions: 0 });
    expect(await tail(task.id)).toEqual(['response.in_progress', ...events]);
  });

  it('WIRE B4 row 8: refused by the handler with a DomainError, in the unit of its end: its code is that of the task', async () => {
    lab.handler.script = async (run) => {
      run.append({ events: [{ type: 'scripted.word', payload: {} }], snapshot: null }).catch(() => undefined);
      return { kind: 'completed', result: { answer: 42 } };
    };
    lab.handler.onProject = ({ event }) => {
      if (event === 'response.completed') throw new DomainError('model_exists', 'taken');
    };
    const task = await endOf();
    expect(task).toMatchObject({ status: 'failed', result: null, error: { code: 'model_exists', message: 'taken' } });
    expect(await tail(task.id)).toEqual(['response.in_progress', 'scripted.word', 'error', 'response.failed']);
  });

  it('WIRE B5: the error event has the flat fields and the nested object', async () => {
    lab.handler.script = () => Promise.reject(new DomainError('model_error', 'NaN', { param: 'input' }));
    const { id, error } = await endOf();
    const event = (await lab.events(id)).find(({ type }) => type === 'error');
    expect(JSON.parse(event?.payload ?? '')).toEqual({
      type: 'error',
      sequence_number: 3,
      code: 'model_error',
      message: 'NaN',
      param: 'input',
      error,
    });
  });
});

describe('loading', () => {
  it('WIRE B4 rows 2 and 4: a task is loading until its seat is ready, then running', async () => {
    const ready = deferred();
    lab.handler.resident = false;
    lab.handler.ready = ready.promise;
    const { id } = await lab.create();
    await lab.runner.start();
    await waitFor('loading', async () => (await lab.task(id)).status === 'loading');
    expect(lab.runner.progressOf(id)?.phase).toBe('loading');
    expect((await lab.task(id)).startedAt).toBeNull();
    ready.resolve();
    await lab.stream.ended(id, new AbortController().signal);
    expect(await tail(id)).toEqual(['response.in_progress', 'response.in_progress', 'response.completed']);
    expect((await lab.task(id)).attempt).toBe(1);
  });

  it.each([
    ['its own code', new DomainError('insufficient_resources', 'too large'), 'insufficient_resources'],
    ['model_load_failed for an unexpected one', new Error('secret'), 'model_load_failed'],
  ])('WIRE B4 row 5: a load error fails the task with %s', async (_, error, code) => {
    lab.handler.resident = false;
    const ready = deferred();
    lab.handler.ready = ready.promise;
    // Before the claim is on disk, and so before the run looks at it.
    lab.handler.onProject = () => ready.reject(error);
    const task = await endOf();
    expect(task).toMatchObject({ status: 'failed', error: { code } });
    expect(task.error?.message).not.toContain('secret');
    expect(await tail(task.id)).toEqual(['response.in_progress', 'error', 'response.failed']);
  });

  it('WIRE B4 row 5: a load failure that cannot be written is tried again, with its own error', async () => {
    lab.handler.resident = false;
    const ready = deferred();
    lab.handler.ready = ready.promise;
    let broken = 2;
    lab.handler.onProject = ({ event }) => {
      ready.reject(new DomainError('insufficient_resources', 'too large'));
      if (event === 'response.failed' && broken-- > 0) throw new Error('broken');
    };
    expect(await endOf()).toMatchObject({ status: 'failed', error: { code: 'insufficient_resources' } });
  });
});

describe('an end that cannot be written at once', () => {
  it('CASES BL-15: an answer that is finished while the disk is full is completed once there is room', async () => {
    const gate = deferred();
    const retries: string[] = [];
    lab.notices.on('storage.retry', ({ fault }) => void retries.push(fault));
    lab.handler.script = () => gate.promise.then(() => ({ kind: 'completed', result: { answer: 42 } }));
    const { id } = await lab.create();
    await lab.runner.start();
    await waitFor('running', async () => (await lab.task(id)).status === 'running');
    await lab.fillDisk();
    gate.resolve();
    await waitFor('two retries', () => retries.length >= 2);
    expect(retries[0]).toBe('full');
    expect((await lab.task(id)).status).toBe('running');
    await lab.freeDisk();
    await lab.stream.ended(id, new AbortController().signal);
    expect(await lab.task(id)).toMatchObject({ status: 'completed', result: { answer: 42 } });
  });

  it('HOUSE 4.8: a finished answer is always retried as completed, its last steps too, however long the disk is full', async () => {
    await lab.close();
    lab = await TaskLab.open({ LMSP_STORAGE_WAIT_SECONDS: '1' });
    const gate = deferred();
    let retries = 0;
    lab.notices.on('storage.retry', () => void (retries += 1));
    const refusals: unknown[] = [];
    lab.handler.script = async (run) => {
      await gate.promise;
      const step = { events: [{ type: 'scripted.word', payload: { text: 'last' } }], snapshot: null };
      run.append(step).catch((error: unknown) => refusals.push(error));
      return { kind: 'completed' };
    };
    const { id } = await lab.create();
    await lab.runner.start();
    await waitFor('running', async () => (await lab.task(id)).status === 'running');
    await lab.fillDisk();
    gate.resolve();
    // 50, 100, 200, 400, 800, 1000 ms: longer than the steps of an unfinished answer wait.
    await waitFor('six retries', () => retries >= 6);
    await lab.freeDisk();
    await lab.stream.ended(id, new AbortController().signal);
    expect(refusals).toEqual([]);
    expect(await lab.task(id)).toMatchObject({ status: 'completed', error: null });
    expect(await tail(id)).toEqual(['response.in_progress', 'scripted.word', 'response.completed']);
  });

  it('one that fails otherwise is tried three times, told, and left to the recovery; its seat is free', async () => {
    const faults: string[] = [];
    lab.notices.on('task.fault', ({ task_id }) => void faults.push(task_id));
    lab.handler.onProject = ({ event }) => {
      if (event === 'response.completed' || event === 'response.failed') throw new Error('broken');
    };
    const { id } = await lab.create();
    await lab.runner.start();
    await waitFor('the fault', () => faults.includes(id));
    await lab.runner.idle();
    expect((await lab.task(id)).status).toBe('running');
    lab.handler.onProject = () => undefined;
    await lab.recovery.run(() => undefined);
    expect((await lab.task(id)).status).toBe('queued');
    await lab.runner.start();
    await lab.stream.ended(id, new AbortController().signal);
    expect((await lab.task(id)).status).toBe('completed');
  });
});

describe('LMSP_TASK_TIMEOUT_SECONDS', () => {
  beforeEach(async () => {
    await lab.close();
    lab = await TaskLab.open({ LMSP_TASK_TIMEOUT_SECONDS: '1', LMSP_CANCEL_GRACE_SECONDS: '1' });
  });

  it.each([
    ['that ends when asked', true],
    ['that does not', false],
  ])('WIRE B4 row 8: a run %s fails with task_timeout', async (_, obeys) => {
    lab.handler.script = (run) =>
      new Promise((resolve) => {
        if (obeys) run.signal.addEventListener('abort', () => resolve({ kind: 'aborted' }));
      });
    expect(await endOf()).toMatchObject({ status: 'failed', error: { code: 'task_timeout' } });
  });

  it('0 sets no limit', async () => {
    await lab.close();
    lab = await TaskLab.open({ LMSP_TASK_TIMEOUT_SECONDS: '0' });
    expect((await endOf()).status).toBe('completed');
  });
});
