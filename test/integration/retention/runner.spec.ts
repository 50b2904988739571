import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RetentionRule } from '../../../src/retention/index.js';
import { DAY, RetentionLab } from '../../support/retention-lab.js';
import { deferred } from '../../support/task-lab.js';
import { waitFor } from '../../support/wait-for.js';

let lab: RetentionLab;

beforeEach(async () => {
  lab = await RetentionLab.open();
});

afterEach(() => lab.close());

/** A rule on a table of its own, as an extension brings it. */
function auditRule(overrides: Partial<RetentionRule> = {}): RetentionRule {
  return {
    kind: 'audit',
    keepSeconds: 60,
    countsFrom: 'written_at',
    survey: async (reader, now) => {
      const rows = await reader.query<{ rows: number; oldest: number | null; due: number | null }>(
        'select count(*) as rows, min(written_at) as oldest, sum(written_at <= ?) as due from audit',
        [now - 60_000],
      );
      const { rows: count, oldest, due } = rows[0]!;
      return { rows: count, oldestAt: oldest, due: due ?? 0, blocked: [], bytes: count * 10 };
    },
    step: async (tx, { now, limit }) => {
      const { affected } = await tx.execute(
        'DELETE FROM audit WHERE rowid IN (SELECT rowid FROM audit WHERE written_at <= ? LIMIT ?)',
        [now - 60_000, limit],
      );
      return { removed: affected, rows: affected, next: affected === limit ? 'more' : null };
    },
    ...overrides,
  };
}

async function auditRows(count: number): Promise<void> {
  await lab.sql('CREATE TABLE audit (written_at integer NOT NULL) STRICT');
  for (let i = 0; i < count; i++) await lab.sql('INSERT INTO audit VALUES (?)', lab.now - 60_000 + (i % 2));
}

describe('a run of retention', () => {
  it("takes an extension's rule as its own (HOUSE 3.4)", async () => {
    lab = await lab.reopened({ LMSP_RETENTION_BATCH_EVENTS: '3' });
    await auditRows(10);
    lab.rules.register(auditRule());
    expect(await lab.survey('audit')).toMatchObject({ kind: 'audit', keepSeconds: 60, rows: 10, due: 5 });
    expect(await lab.run('audit')).toEqual({ kind: 'audit', removed: 5, rows: 5, batches: 2, failed: false });
    expect(await lab.count('audit')).toBe(5);
  });

  it('refuses a second rule of one kind', () => {
    expect(() => lab.rules.register(auditRule({ kind: 'tasks' }))).toThrow('"tasks" is registered twice');
  });

  it('goes on with the other rules when one fails, rolls its batch back and tells it', async () => {
    await auditRows(2);
    const broken = auditRule({
      step: async (tx) => {
        await tx.execute('DELETE FROM audit');
        throw new Error('the rule is broken');
      },
    });
    lab.rules.register(broken);
    lab.rules.register({ ...auditRule(), kind: 'audit_again' });
    const { kinds } = await lab.runner.run('operator');
    expect(kinds.filter(({ kind }) => kind.startsWith('audit'))).toMatchObject([
      { kind: 'audit', removed: 0, failed: true },
      { kind: 'audit_again', removed: 1, failed: false },
    ]);
    expect(lab.failed).toMatchObject([{ kind: 'audit', error: { message: 'the rule is broken' } }]);
  });

  it('ends a rule that comes no further', async () => {
    lab.rules.register(auditRule({ step: async () => ({ removed: 0, rows: 0, next: 'here' }) }));
    expect(await lab.run('audit')).toMatchObject({ failed: true, batches: 2 });
  });

  it('takes less at a time where a batch holds the writer for long, down to 50 rows', async () => {
    const limits: number[] = [];
    const step: RetentionRule['step'] = async (_tx, { limit }) => {
      limits.push(limit);
      const until = performance.now() + 51;
      while (performance.now() < until);
      return { removed: 1, rows: 1, next: limits.length < 8 ? String(limits.length) : null };
    };
    lab.rules.register(auditRule({ step }));
    await lab.run('audit');
    expect(limits).toEqual([2000, 1000, 500, 250, 125, 62, 50, 50]);
  });

  it('refuses a second run at the same time, and takes the next one afterwards', async () => {
    const reached = deferred();
    const gate = deferred();
    await auditRows(0);
    const slow = auditRule({
      step: async (tx) => {
        await tx.query('select 1');
        reached.resolve();
        await gate.promise;
        return { removed: 0, rows: 0, next: null };
      },
    });
    lab.rules.register(slow);
    const first = lab.runner.run('schedule');
    await reached.promise;
    expect(lab.runner.isRunning).toBe(true);
    await expect(lab.runner.run('operator')).rejects.toMatchObject({ code: 'retention_in_progress', kind: 'conflict' });
    gate.resolve();
    await first;
    await lab.runner.run('operator');
    expect(lab.finished.map(({ trigger }) => trigger)).toEqual(['schedule', 'operator']);
  });

  it('ends after its batch when the service stops, and the next process goes on', async () => {
    lab = await lab.reopened({ LMSP_RETENTION_BATCH_EVENTS: '10' });
    for (let i = 0; i < 20; i++) await lab.addTask({ id: `task_${i}`, age: 8 * DAY, events: 10 });
    let batches = 0;
    const step = lab.tasks.step.bind(lab.tasks);
    const stops: Promise<void>[] = [];
    lab.tasks.step = async (tx, batch) => {
      batches += 1;
      if (batches === 4) tx.afterCommit(() => void stops.push(lab.runner.stop()));
      return step(tx, batch);
    };
    const { interrupted } = await lab.runner.run('schedule');
    await Promise.all(stops);
    expect([interrupted, batches]).toEqual([true, 4]);
    expect(await lab.count('task_events')).toBe(170);
    lab = await lab.reopened();
    await lab.runner.run('start');
    expect(await lab.count('tasks')).toBe(0);
  });

  it('gives free pages back to the disk in chunks, but for the share that is kept', async () => {
    lab = await lab.reopened({ LMSP_RETENTION_VACUUM_PAGES: '100', LMSP_RETENTION_FREE_PERCENT: '20' });
    for (let i = 0; i < 10; i++) await lab.addTask({ id: `task_${i}`, age: 8 * DAY, events: 100, size: 4000 });
    const { file: before } = await lab.reports.make();
    const { freedPages } = await lab.runner.run('operator');
    const { file: after } = await lab.reports.make();
    expect(freedPages).toBeGreaterThan(200);
    expect(before.bytes - after.bytes).toBe(freedPages * 4096);
    expect(after.freeBytes / after.bytes).toBeGreaterThan(0.1);
    expect(after.freeBytes / after.bytes).toBeLessThan(0.25);
    expect((await lab.runner.run('operator')).freedPages).toBe(0);
  });

  it('never gives back more when nothing is free', async () => {
    lab = await lab.reopened({ LMSP_RETENTION_FREE_PERCENT: '100' });
    await lab.addTask({ id: 'task_a', age: 8 * DAY, events: 500, size: 4000 });
    expect((await lab.runner.run('operator')).freedPages).toBe(0);
    expect((await lab.reports.make()).file.freeBytes).toBeGreaterThan(0);
  });
});

describe('the report (OPERATE 5.7)', () => {
  it('tells of each kind rows, the oldest, what is due and blocked, and its size; and changes nothing', async () => {
    await lab.addTask({ id: 'task_old', age: 9 * DAY, events: 50, size: 1000 });
    await lab.addTask({ id: 'task_due', age: 8 * DAY, events: 50, size: 1000 });
    await lab.addTask({ id: 'task_young', age: 1, events: 50, size: 1000 });
    await lab.addTask({ id: 'task_busy', status: 'running', age: 8 * DAY });
    await lab.addTask({ id: 'task_new', status: 'queued', age: 1 });
    await lab.addResponse({ id: 'resp_a', age: 31 * DAY });
    await lab.addKey('k', -1);
    await lab.addPairing('p', 1);
    const { kinds, heldMs } = await lab.reports.make();
    const oldestAt = lab.now - 9 * DAY;
    expect(kinds).toMatchObject([
      { kind: 'tasks', keepSeconds: 604_800, countsFrom: 'finished_at', rows: 5, oldestAt, due: 2 },
      { kind: 'idempotency_keys', keepSeconds: 86_400, rows: 1, due: 1 },
      { kind: 'responses', keepSeconds: 2_592_000, rows: 1, oldestAt: lab.now - 31 * DAY, due: 1 },
      { kind: 'pairings', keepSeconds: 3600, rows: 1, due: 0, blocked: [] },
    ]);
    expect(kinds[0]?.blocked).toEqual([{ reason: 'unfinished', rows: 1 }]);
    expect(kinds[0]?.bytes).toBeGreaterThan(150_000);
    expect(kinds[0]?.bytes).toBeLessThan(200_000);
    expect(heldMs).toBe(0);
    const rows = await Promise.all(['tasks', 'responses', 'idempotency_keys', 'pairings'].map((t) => lab.count(t)));
    expect([rows, await lab.count('tasks', 'events_expired_at is not null')]).toEqual([[5, 1, 1, 1], 0]);
  });

  it('of an empty store has zeros', async () => {
    const empty = { rows: 0, oldestAt: null, due: 0, bytes: 0 };
    for (const survey of (await lab.reports.make()).kinds) expect(survey).toMatchObject(empty);
  });
});

describe('the schedule (WIRE B6: at the start and hourly)', () => {
  it('runs at the start, and tells when the next run is', async () => {
    await lab.addTask({ id: 'task_a', age: 8 * DAY });
    expect(lab.schedule.nextRunAt()).toBeNull();
    lab.schedule.start();
    await waitFor('the run', () => lab.finished.length > 0);
    expect(lab.finished[0]).toMatchObject({ trigger: 'start', removed: 1 });
    expect(lab.schedule.nextRunAt()! % 3_600_000).toBe(0);
    await lab.schedule.stop();
    expect(lab.schedule.nextRunAt()).toBeNull();
  });

  it('runs by the configured times', async () => {
    lab = await lab.reopened({ LMSP_RETENTION_CRON: '* * * * * *' });
    lab.schedule.start();
    await waitFor('a scheduled run', () => lab.finished.some(({ trigger }) => trigger === 'schedule'));
  });

  it('runs as soon as a hold of the clock has ended, and looks again whether it has', async () => {
    await lab.addTask({ id: 'task_a', age: 8 * DAY });
    lab.clock.run(30);
    lab = await lab.reopened();
    lab.schedule.start();
    await waitFor('held runs', () => lab.finished.filter(({ held }) => held).length >= 2);
    expect(await lab.count('tasks')).toBe(1);
    lab.clock.run(30);
    await waitFor('the run after the hold', () => lab.finished.some(({ held }) => !held));
    expect(await lab.count('tasks')).toBe(0);
  });

  it('begins nothing after the stop', async () => {
    await lab.schedule.stop();
    lab.schedule.start();
    expect(lab.schedule.nextRunAt()).toBeNull();
  });
});
