import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RetentionBatch } from '../../../src/retention/index.js';
import { TERMINAL_STATUSES, UNFINISHED_STATUSES } from '../../../src/tasks/task-transitions.js';
import { DAY, HOUR, RetentionLab } from '../../support/retention-lab.js';

const TABLES = ['tasks', 'task_events', 'task_snapshots'];

let lab: RetentionLab;

beforeEach(async () => {
  lab = await RetentionLab.open();
});

afterEach(() => lab.close());

const counts = () => Promise.all(TABLES.map((table) => lab.count(table)));

/** One batch by hand, as a run takes it. */
const step = (limit = 2000) => lab.write((tx) => lab.tasks.step(tx, { now: lab.expiry.now(), limit, cursor: null }));

describe('ended tasks and their events (R4; WIRE B6, retention)', () => {
  it('go 7 days after their end, to the millisecond, with events and snapshots', async () => {
    for (const status of TERMINAL_STATUSES) {
      await lab.addTask({ id: `old_${status}`, status, age: 7 * DAY });
      await lab.addTask({ id: `young_${status}`, status, age: 7 * DAY - 1 });
    }
    expect(await lab.run('tasks')).toMatchObject({ removed: 3, rows: 3 * (1 + 3 + 1), failed: false });
    expect(await lab.ids('tasks')).toEqual(['young_cancelled', 'young_completed', 'young_failed']);
    expect(await counts()).toEqual([3, 9, 3]);
  });

  it('are kept for the time that is configured, and for ever with 0', async () => {
    const kept = { LMSP_RETENTION_TASKS_SECONDS: '0', LMSP_RETENTION_RESPONSES_SECONDS: '0' };
    lab = await lab.reopened(kept);
    await lab.addTask({ id: 'task_a', age: 50 * 365 * DAY });
    expect(await lab.run('tasks')).toMatchObject({ removed: 0, batches: 1 });
    lab = await lab.reopened({ LMSP_RETENTION_TASKS_SECONDS: '3600', LMSP_RETENTION_IDEMPOTENCY_SECONDS: '3600' });
    await lab.addTask({ id: 'task_b', age: HOUR - 1 });
    expect(await lab.run('tasks')).toMatchObject({ removed: 1 });
    expect(await lab.ids('tasks')).toEqual(['task_b']);
  });

  it.each(UNFINISHED_STATUSES)('never go while %s, however old (R5)', async (status) => {
    await lab.addTask({ id: 'task_a', status, age: 3650 * DAY });
    expect(await lab.run('tasks')).toMatchObject({ removed: 0, rows: 0 });
    expect(await counts()).toEqual([1, 3, 1]);
    expect((await lab.survey('tasks')).blocked).toEqual([{ reason: 'unfinished', rows: 1 }]);
  });

  it.each(UNFINISHED_STATUSES)('are not marked nor deleted by a wrong statement while %s (R5)', async (status) => {
    await lab.addTask({ id: 'task_a', status, age: DAY });
    const wrong = ['UPDATE tasks SET events_expired_at = 1', ...TABLES.map((table) => `DELETE FROM ${table}`)];
    for (const statement of wrong) await expect(lab.sql(statement)).rejects.toThrow('unfinished task');
    expect(await counts()).toEqual([1, 3, 1]);
  });

  it('take their idempotency keys along', async () => {
    await lab.addTask({ id: 'task_a', age: 8 * DAY });
    await lab.addKey('k', 30 * DAY, 'task_a');
    await lab.run('tasks');
    expect(await lab.count('idempotency_keys')).toBe(0);
  });
});

describe('batches (WIRE B6: bounded by events, not by tasks)', () => {
  it('are 2,000 events and 2,000 snapshots at most, also of one long log, from its beginning on', async () => {
    await lab.addTask({ id: 'task_a', age: 8 * DAY, events: 4500, snapshots: 2500 });
    await step();
    const left: number[][] = [];
    for (let i = 0; i < 3; i++) {
      await step();
      left.push(await counts());
    }
    expect(left).toEqual([
      [1, 2500, 500],
      [1, 500, 0],
      [0, 0, 0],
    ]);
  });

  it('leave the end of a log to the last', async () => {
    await lab.addTask({ id: 'task_a', age: 8 * DAY, events: 30 });
    await step();
    await step(10);
    const [row] = await lab.store.reader.query<{ first: number }>(
      'select min(sequence_number) as first from task_events',
    );
    expect(row?.first).toBe(10);
  });

  it('are 8 MB at most where events are large, one event at least', async () => {
    await lab.addTask({ id: 'task_a', age: 8 * DAY, events: 5, size: 3_000_000 });
    await lab.addTask({ id: 'task_b', age: 8 * DAY, events: 2, size: 20_000_000 });
    await step();
    const left: number[] = [];
    while ((await step()).next !== null) left.push(await lab.count('task_events'));
    expect(left).toEqual([5, 3, 2, 1, 0]);
  });

  it('take whole short logs together', async () => {
    for (let i = 0; i < 250; i++) await lab.addTask({ id: `task_${i}`, age: 8 * DAY, events: 4 });
    expect(await lab.run('tasks')).toMatchObject({ removed: 250, batches: 5 });
  });
});

describe('a kill in the middle', () => {
  it('between the mark and the batches: the next run finishes, although expiry is held back by then', async () => {
    await lab.addTask({ id: 'task_a', age: 8 * DAY, events: 30 });
    await lab.addTask({ id: 'task_b', age: 8 * DAY, events: 30 });
    await step();
    expect(await lab.count('tasks', 'events_expired_at is not null')).toBe(2);
    await step(10);
    lab.clock.run(8 * DAY);
    lab = await lab.reopened();
    await lab.addTask({ id: 'task_c', age: 8 * DAY });
    expect(lab.expiry.now()).toBe(0);
    expect((await lab.survey('tasks')).due).toBe(2);
    expect(await lab.run('tasks')).toMatchObject({ removed: 2 });
    expect(await counts()).toEqual([1, 3, 1]);
  });

  it('at any batch: the union of the runs removes what one would have (model)', async () => {
    const task = fc.record({
      status: fc.constantFrom(...TERMINAL_STATUSES, ...UNFINISHED_STATUSES),
      age: fc.integer({ min: 0, max: 14 * DAY }),
      events: fc.integer({ min: 1, max: 40 }),
      snapshots: fc.integer({ min: 0, max: 30 }),
    });
    const walk = fc.record({
      tasks: fc.array(task, { maxLength: 12 }),
      days: fc.constantFrom(0, 1, 3, 7, 10),
      limit: fc.integer({ min: 1, max: 60 }),
      kills: fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(walk, async ({ tasks, days, limit, kills }) => {
        await lab.close();
        const keep = String((days * DAY) / 1000);
        const env = {
          LMSP_RETENTION_TASKS_SECONDS: keep,
          LMSP_RETENTION_RESPONSES_SECONDS: '0',
          LMSP_RETENTION_BATCH_EVENTS: String(limit),
        };
        lab = await RetentionLab.open(env);
        for (const [i, each] of tasks.entries()) await lab.addTask({ id: `task_${i}`, ...each });
        for (const batches of kills) {
          let cursor: string | null = null;
          for (let i = 0; i < batches; i++) {
            const batch: RetentionBatch = { now: lab.expiry.now(), limit, cursor };
            cursor = (await lab.write((tx) => lab.tasks.step(tx, batch))).next;
          }
          lab = await lab.reopened(env);
        }
        expect(await lab.run('tasks')).toMatchObject({ failed: false });
        const kept = tasks
          .map((each, i) => ({ ...each, id: `task_${i}` }))
          .filter(({ status, age }) => days === 0 || age < days * DAY || UNFINISHED_STATUSES.includes(status as never));
        expect(await lab.ids('tasks')).toEqual(kept.map(({ id }) => id).sort());
        const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
        expect(await counts()).toEqual([
          kept.length,
          sum(kept.map(({ events }) => events)),
          sum(kept.map(({ snapshots }) => snapshots)),
        ]);
      }),
      { numRuns: 30 },
    );
  }, 120_000);
});
