import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/errors/index.js';
import { NotingRecorder } from '../../support/noting-recorder.js';
import { TaskLab } from '../../support/task-lab.js';

let lab: TaskLab;
let recorder: NotingRecorder;
beforeEach(async () => {
  lab = await TaskLab.open();
  recorder = await NotingRecorder.in(lab);
});
afterEach(() => lab.close());

/** As whoever accepts many creates at once: those that cannot be recorded are refused, each for itself. */
async function acceptAll(count: number): Promise<{ made: string[]; refused: string[] }> {
  const drafts = Array.from({ length: count }, (_, i) => lab.draft({ metadata: { number: String(i) } }));
  return lab.write(async (tx) => {
    const refusals = new Map(drafts.map(({ id }) => [id, lab.lifecycle.refusalOf(tx, id)]));
    const made = await lab.lifecycle.enqueue(
      tx,
      drafts.filter(({ id }) => refusals.get(id) === null),
    );
    const refused = drafts.filter(({ id }) => refusals.get(id) instanceof DomainError);
    return { made: made.map(({ id }) => id), refused: refused.map(({ metadata }) => metadata.number!) };
  });
}

describe('units that move many tasks', () => {
  it('row 1: a create that cannot be recorded is refused with server_error, and takes no other with it', async () => {
    recorder.fails = ({ command, task }) => command === 'enqueue' && task.metadata.number === '3';
    const { made, refused } = await acceptAll(6);
    expect([made.length, refused]).toEqual([5, ['3']]);
    for (const id of made) expect(await recorder.notes(id)).toEqual(['enqueue: –→queued']);
    expect(await lab.store.reader.query('select 1 from tasks')).toHaveLength(5);
    expect(recorder.failed.map(({ outcome }) => outcome)).toEqual(['tried_again', 'tried_again', 'refused']);
    const alone = lab.create({ metadata: { number: '3' } });
    await expect(alone).rejects.toMatchObject({ code: 'server_error' });
    expect(await lab.faults()).toEqual([]);
  });

  it('rows 16 to 19: recovery goes on without what cannot be recorded, and records the rest', async () => {
    const found = ['queued', 'running', 'loading', 'cancelling'] as const;
    const policies = ['fail', 'retry', 'resume'] as const;
    const ids: string[] = [];
    for (const state of found) {
      for (const onRestart of policies) ids.push((await lab.bring(state, { onRestart })).id);
    }
    const poisoned = new Set([ids[3]!, ids[5]!, ids[10]!]);
    recorder.fails = ({ task }) => poisoned.has(task.id);
    const before = recorder.calls.length;
    const report = await lab.recovery.run(() => undefined);
    expect(report).toMatchObject({ total: 12, kept: 2, requeued: 3, resumed: 1, failed: 3, cancelled: 3 });
    for (const [i, id] of ids.entries()) {
      const isKept = found[Math.floor(i / 3)] === 'queued' && policies[i % 3] !== 'fail';
      const last = (await recorder.notes(id)).at(-1) ?? '';
      expect([id, last.startsWith('recover')]).toEqual([id, !isKept && !poisoned.has(id)]);
      expect(recorder.outcomes(id)).toEqual(poisoned.has(id) ? ['tried_again', 'tried_again', 'omitted'] : []);
    }
    // Ten tasks move; three tries with all of them, and one without the three.
    expect(recorder.calls.length - before).toBe(3 * 10 + 7);
    expect(await lab.faults()).toEqual([]);
  });

  it('a recorder that fails at everything holds no start up: four units, however many tasks', async () => {
    for (let i = 0; i < 40; i += 1) await lab.bring('queued', { onRestart: 'fail' });
    recorder.fails = () => true;
    const before = recorder.calls.length;
    const report = await lab.recovery.run(() => undefined);
    expect(report).toMatchObject({ total: 40, failed: 40 });
    expect(recorder.calls.length - before).toBe(3 * 40);
    expect(await lab.faults()).toEqual([]);
  });

  it('interruptions that are used up: rows 17 and 12 of the same unit', async () => {
    const { id } = await lab.bring('running', { onRestart: 'retry', maxInterruptions: 1 });
    recorder.fails = ({ command }) => command !== 'enqueue' && command !== 'start';
    await lab.recovery.run(() => undefined);
    expect((await lab.task(id)).error?.code).toBe('retry_limit_exceeded');
    expect(recorder.outcomes(id, 'recoverRetry')).toEqual(['tried_again', 'tried_again', 'omitted']);
    expect(recorder.outcomes(id, 'failQueued')).toEqual(['tried_again', 'tried_again', 'omitted']);
    expect(await lab.faults()).toEqual([]);
  });
});

describe('runs', () => {
  it('a claim that cannot be recorded fails its task; the others of the claim run, and no seat is lost', async () => {
    const tasks = [];
    for (let i = 0; i < 4; i += 1) tasks.push(await lab.create({ metadata: { number: String(i) } }));
    recorder.fails = ({ command, task }) => command === 'start' && task.metadata.number === '1';
    await lab.runner.start();
    for (const { id } of tasks) await lab.stream.ended(id, AbortSignal.timeout(5000));
    await lab.runner.idle();
    const ends = await Promise.all(tasks.map(async ({ id }) => (await lab.task(id)).status));
    expect(ends).toEqual(['completed', 'failed', 'completed', 'completed']);
    expect((await lab.task(tasks[1]!.id)).error?.code).toBe('recorder_failed');
    expect([lab.handler.taken, lab.runner.runs()]).toEqual([0, []]);
    expect(await lab.faults()).toEqual([]);
  });

  it.each([
    ['startLoaded', 'resident'],
    ['requeueLost', 'lost'],
    ['complete', 'done'],
  ])('%s that cannot be recorded ends the run, and its seat is free', async (failing, way) => {
    lab.handler.resident = way !== 'resident';
    if (way === 'lost') lab.handler.script = () => Promise.resolve({ kind: 'lost', message: 'gone', alone: false });
    recorder.fails = ({ command }) => command === failing;
    const { id } = await lab.create();
    await lab.runner.start();
    await lab.stream.ended(id, AbortSignal.timeout(5000));
    await lab.runner.idle();
    const { status, error } = await lab.task(id);
    expect([status, error?.code]).toEqual(way === 'done' ? ['completed', undefined] : ['failed', 'recorder_failed']);
    expect(lab.handler.taken).toBe(0);
    expect(await lab.faults()).toEqual([]);
  });

  it('a take-up that cannot be recorded fails its task (row 13), and its run never begins', async () => {
    const { id } = await lab.bring('unowned', { onRestart: 'resume' });
    let begun = false;
    lab.handler.script = () => {
      begun = true;
      return Promise.resolve({ kind: 'completed' });
    };
    recorder.fails = ({ command }) => command === 'takeUp';
    await lab.runner.start();
    await lab.stream.ended(id, AbortSignal.timeout(5000));
    await lab.runner.idle();
    expect([(await lab.task(id)).error?.code, begun, lab.handler.taken]).toEqual(['recorder_failed', false, 0]);
    expect(await lab.faults()).toEqual([]);
  });

  it('R3: a cancel that cannot be recorded is a cancel all the same', async () => {
    lab.handler.script = (run) =>
      new Promise((resolve) => run.signal.addEventListener('abort', () => resolve({ kind: 'aborted' })));
    const { id } = await lab.create();
    await lab.runner.start();
    recorder.fails = ({ command }) => command === 'requestCancel' || command === 'confirmCancel';
    while ((await lab.task(id)).status !== 'running') await new Promise(setImmediate);
    expect((await lab.cancellation.cancel(id)).status).toBe('cancelled');
    expect(await lab.faults()).toEqual([]);
  });
});
