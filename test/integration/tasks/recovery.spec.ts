import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageFault, StoreClosed } from '../../../src/database/index.js';
import { ON_RESTART_POLICIES, type OnRestart } from '../../../src/tasks/task-transitions.js';
import { TaskLab, type Found } from '../../support/task-lab.js';
import { waitFor } from '../../support/wait-for.js';

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open();
});
afterEach(() => lab.close());

function recover(): ReturnType<TaskLab['recovery']['run']> {
  return lab.recovery.run(() => undefined);
}

/** 11.3: status afterwards and the events that the recovery appends, by what is found and the policy. */
const TABLE: Record<'queued' | 'loading' | 'running' | 'cancelling', Record<OnRestart, [string, string[]]>> = {
  queued: { fail: ['failed', ['response.failed']], retry: ['queued', []], resume: ['queued', []] },
  loading: {
    fail: ['failed', ['response.failed']],
    retry: ['queued', ['response.queued']],
    resume: ['queued', ['response.queued']],
  },
  running: {
    fail: ['failed', ['response.failed']],
    retry: ['queued', ['response.queued']],
    resume: ['running', ['response.in_progress']],
  },
  cancelling: {
    fail: ['cancelled', ['response.cancelled']],
    retry: ['cancelled', ['response.cancelled']],
    resume: ['cancelled', ['response.cancelled']],
  },
};
const FOUND = Object.keys(TABLE) as (keyof typeof TABLE)[];
const cells = FOUND.flatMap((found) => ON_RESTART_POLICIES.map((onRestart) => ({ found, onRestart })));

describe('recovery at start (11.3)', () => {
  it.each(cells)('C1: a task found $found with on_restart $onRestart is moved as the table says', async (cell) => {
    const [status, appended] = TABLE[cell.found][cell.onRestart];
    const before = await lab.bring(cell.found, { onRestart: cell.onRestart });
    const log = await lab.events(before.id);
    await recover();
    const { task, events } = await lab.found(before.id);
    expect(task.status).toBe(status);
    expect(task.owner).toBeNull();
    expect(task.attempt).toBe(before.attempt);
    expect(events.slice(0, log.length)).toEqual(log);
    expect(events.slice(log.length).map((event) => event.type)).toEqual(appended);
    expect(await lab.faults()).toEqual([]);
    if (appended.length === 0) expect(task).toEqual(before);
    if (status === 'queued' && appended.length > 0) expect(task.startCount).toBe(before.startCount + 1);
  });

  it.each(['queued', 'loading', 'running', 'unowned'] as const)(
    'C2: a task found %s that fails gets server_restarted and response.failed, with no error event before it',
    async (found) => {
      const { id } = await lab.bring(found, { onRestart: 'fail' });
      await recover();
      expect((await lab.task(id)).error).toMatchObject({ type: 'server_error', code: 'server_restarted' });
      expect((await lab.types(id)).at(-1)).toBe('response.failed');
      expect(await lab.types(id)).not.toContain('error');
    },
  );

  it.each(ON_RESTART_POLICIES)('WIRE B6: a foreground task with policy %s always fails', async (onRestart) => {
    const tasks = [];
    for (const found of ['queued', 'loading', 'running'] as Found[]) {
      tasks.push(await lab.bring(found, { onRestart, background: false }));
    }
    await recover();
    for (const { id } of tasks) expect((await lab.task(id)).error?.code).toBe('server_restarted');
    const cancelling = await lab.bring('cancelling', { onRestart, background: false });
    await recover();
    expect((await lab.task(cancelling.id)).status).toBe('cancelled');
  });

  it('C4: a state whose event cannot be written is not moved either', async () => {
    const task = await lab.bring('running', { onRestart: 'fail' });
    const before = await lab.found(task.id);
    await lab.write((tx) =>
      tx.execute(`CREATE TRIGGER poison BEFORE INSERT ON task_events WHEN NEW.type = 'response.failed'
        BEGIN SELECT RAISE(ABORT, 'poison'); END`),
    );
    await recover();
    expect(await lab.found(task.id)).toEqual(before);
    await lab.write((tx) => tx.execute('DROP TRIGGER poison'));
    await recover();
    expect((await lab.task(task.id)).status).toBe('failed');
  });

  it('R6: a recovery that runs again after it has ended adds nothing', async () => {
    const ids: string[] = [];
    for (const { found, onRestart } of cells) ids.push((await lab.bring(found, { onRestart })).id);
    const first = await recover();
    expect(first).toEqual({ total: 12, kept: 2, requeued: 3, resumed: 1, failed: 3, cancelled: 3 });
    const after = await Promise.all(ids.map((id) => lab.found(id)));
    const second = await recover();
    expect(second).toEqual({ total: 6, kept: 6, requeued: 0, resumed: 0, failed: 0, cancelled: 0 });
    expect(await Promise.all(ids.map((id) => lab.found(id)))).toEqual(after);
  });

  it('WIRE B4 row 14: finished tasks are not looked at', async () => {
    const ids: string[] = [];
    for (const found of ['completed', 'failed', 'cancelled'] as Found[]) ids.push((await lab.bring(found)).id);
    const before = await Promise.all(ids.map((id) => lab.found(id)));
    expect((await recover()).total).toBe(0);
    expect(await Promise.all(ids.map((id) => lab.found(id)))).toEqual(before);
  });

  it('invariant 1: numbers go on behind those of the former process, and the task is claimed with a higher attempt', async () => {
    const { id } = await lab.bring('running');
    lab = await lab.reopened();
    await recover();
    await lab.runner.start();
    await lab.runner.idle();
    await lab.stream.ended(id, new AbortController().signal);
    expect(await lab.types(id)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
      'response.queued',
      'response.in_progress',
      'response.completed',
    ]);
    expect((await lab.task(id)).attempt).toBe(2);
    expect(await lab.faults()).toEqual([]);
  });
});

describe('interruptions (WIRE B6)', () => {
  const unclean = ['loading', 'running'] as const;

  it.each(unclean.flatMap((found) => (['retry', 'resume'] as const).map((onRestart) => ({ found, onRestart }))))(
    'an owned attempt found $found with policy $onRestart counts as one, however often recovery runs',
    async ({ found, onRestart }) => {
      const { id } = await lab.bring(found, { onRestart });
      await recover();
      await recover();
      expect(await lab.task(id)).toMatchObject({ interruptions: 1, owner: null });
    },
  );

  it.each(unclean.flatMap((found) => (['retry', 'resume'] as const).map((onRestart) => ({ found, onRestart }))))(
    'rows 12 and 13: the last one that is allowed fails a task found $found with policy $onRestart',
    async ({ found, onRestart }) => {
      const { id } = await lab.bring(found, { onRestart, maxInterruptions: 1 });
      const report = await recover();
      expect(report).toMatchObject({ failed: 1, requeued: 0, resumed: 0 });
      const { status, error, interruptions } = await lab.task(id);
      expect({ status, code: error?.code, interruptions }).toEqual({
        status: 'failed',
        code: 'retry_limit_exceeded',
        interruptions: 1,
      });
      // First where the table moves it, then the end: a crash loop does not leave the table.
      const moved = found === 'running' && onRestart === 'resume' ? 'response.in_progress' : 'response.queued';
      expect((await lab.types(id)).slice(-3)).toEqual([moved, 'error', 'response.failed']);
    },
  );

  it.each(['retry', 'resume'] as const)('three clean restarts count nothing (policy %s)', async (onRestart) => {
    lab.handler.script = ({ signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'aborted' })));
    const { id } = await lab.create({ onRestart });
    for (let start = 1; start <= 3; start += 1) {
      await recover();
      await lab.runner.start();
      await waitFor('the run', async () => (await lab.task(id)).attempt === start);
      await lab.stop.stopClaiming();
      await lab.stop.endRuns();
      const { script } = lab.handler;
      lab = await lab.reopened();
      lab.handler.script = script;
    }
    await recover();
    expect(await lab.task(id)).toMatchObject({ interruptions: 0, attempt: 3, owner: null });
    expect(await lab.faults()).toEqual([]);
  });
});

describe('recovery of many', () => {
  it('R6: 1,200 leftovers are all moved, in pages, and progress tells of each', async () => {
    const drafts = Array.from({ length: 1200 }, (_, i) => lab.draft({ onRestart: i % 2 ? 'retry' : 'fail' }));
    await lab.write((tx) => lab.lifecycle.enqueue(tx, drafts));
    await lab.write(async (tx) => {
      for (const { id } of drafts.slice(0, 900)) await lab.lifecycle.start(tx, id, 'run_1');
    });
    const seen: [number, number][] = [];
    const report = await lab.recovery.run((done, total) => seen.push([done, total]));
    expect(report).toEqual({ total: 1200, kept: 150, requeued: 450, resumed: 0, failed: 600, cancelled: 0 });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.at(-1)).toEqual([1200, 1200]);
    const counts = await lab.store.reader.query(
      'select status, count(*) as n from tasks group by status order by status',
    );
    expect(counts).toEqual([
      { status: 'failed', n: 600 },
      { status: 'queued', n: 600 },
    ]);
    expect(await lab.faults()).toEqual([]);
  });

  it('a damaged row holds up no other, keeps its state whole, and is told', async () => {
    const tasks = [];
    for (let i = 0; i < 5; i += 1) tasks.push(await lab.bring('running'));
    const damaged = tasks[2]!;
    const before = await lab.found(damaged.id);
    const faults: string[] = [];
    lab.notices.on('task.fault', ({ task_id }) => void faults.push(task_id));
    lab.handler.onProject = ({ task }) => {
      if (task.id === damaged.id) throw new Error('damaged');
    };
    const report = await recover();
    expect(report).toMatchObject({ total: 5, requeued: 4 });
    expect(faults).toEqual([damaged.id]);
    expect(await lab.found(damaged.id)).toEqual(before);
    for (const { id } of tasks) expect((await lab.task(id)).status).toBe(id === damaged.id ? 'running' : 'queued');
  });

  it('a stop in the middle of a recovery ends it: no row is blamed for the closed store', async () => {
    await lab.bring('running');
    const faults: unknown[] = [];
    lab.notices.on('task.fault', (fault) => void faults.push(fault));
    await lab.store.units.close();
    await expect(recover()).rejects.toThrow(StoreClosed);
    expect(faults).toEqual([]);
  });

  it('R6: a disk that takes nothing fails the recovery; it does not end with tasks left as they were found', async () => {
    const { id } = await lab.bring('running', { onRestart: 'fail' });
    await lab.fillDisk();
    await expect(recover()).rejects.toThrow(StorageFault);
    await lab.freeDisk();
    await recover();
    expect((await lab.task(id)).status).toBe('failed');
  });
});
