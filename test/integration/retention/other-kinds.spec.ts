import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY, HOUR, RetentionLab } from '../../support/retention-lab.js';

let lab: RetentionLab;

beforeEach(async () => {
  lab = await RetentionLab.open();
});

afterEach(() => lab.close());

describe('idempotency keys (WIRE B6, expiry)', () => {
  it('go at their time, to the millisecond', async () => {
    await lab.addKey('old', 0);
    await lab.addKey('young', 1);
    expect(await lab.run('idempotency_keys')).toMatchObject({ removed: 1 });
    expect(await lab.ids('idempotency_keys', 'key')).toEqual(['young']);
  });

  it.each(['queued', 'loading', 'running', 'cancelling'])('stay while their task is %s', async (status) => {
    await lab.addTask({ id: 'task_a', status, age: 30 * DAY });
    await lab.addKey('k', -29 * DAY, 'task_a');
    expect(await lab.run('idempotency_keys')).toMatchObject({ removed: 0 });
    expect(await lab.survey('idempotency_keys')).toMatchObject({
      rows: 1,
      due: 0,
      blocked: [{ reason: 'task_unfinished_or_just_ended', rows: 1 }],
    });
  });

  it('stay for an hour after the end of their task', async () => {
    await lab.addTask({ id: 'task_a', age: HOUR - 1 });
    await lab.addKey('a', -DAY, 'task_a');
    await lab.addTask({ id: 'task_b', age: HOUR });
    await lab.addKey('b', -DAY, 'task_b');
    expect(await lab.run('idempotency_keys')).toMatchObject({ removed: 1 });
    expect(await lab.ids('idempotency_keys', 'key')).toEqual(['a']);
  });

  it('are kept for ever with 0', async () => {
    const forEver = ['IDEMPOTENCY', 'TASKS', 'RESPONSES'].map((kind) => [`LMSP_RETENTION_${kind}_SECONDS`, '0']);
    lab = await lab.reopened(Object.fromEntries(forEver) as Record<string, string>);
    await lab.addKey('k', -3650 * DAY);
    expect(await lab.run('idempotency_keys')).toMatchObject({ removed: 0 });
  });

  it('are paged past those that must stay', async () => {
    lab = await lab.reopened({ LMSP_RETENTION_BATCH_EVENTS: '3' });
    await lab.addTask({ id: 'task_a', status: 'running', age: DAY });
    for (let i = 0; i < 7; i++) await lab.addKey(`held_${i}`, -2 * DAY, 'task_a');
    for (let i = 0; i < 5; i++) await lab.addKey(`free_${i}`, -DAY);
    expect(await lab.run('idempotency_keys')).toMatchObject({ removed: 5, batches: 5 });
    expect(await lab.count('idempotency_keys')).toBe(7);
  });
});

describe('pairings (WIRE B6: their 10 minutes and an hour)', () => {
  it.each(['pending', 'approved', 'denied', 'consumed'])(
    '%s ones go an hour after they have expired',
    async (status) => {
      await lab.addPairing('old', -HOUR, status);
      await lab.addPairing('young', 1 - HOUR, status);
      expect(await lab.survey('pairings')).toMatchObject({ rows: 2, due: 1, keepSeconds: 3600 });
      expect(await lab.run('pairings')).toMatchObject({ removed: 1 });
      expect(await lab.ids('pairings')).toEqual(['young']);
    },
  );
});

describe('a suspend of 8 days (WIRE B6, Clock)', () => {
  beforeEach(async () => {
    await lab.addTask({ id: 'task_a', age: HOUR });
    await lab.addResponse({ id: 'resp_a', age: 25 * DAY });
    await lab.addKey('k', HOUR);
    await lab.addPairing('p', 600_000);
  });

  const left = () =>
    Promise.all(['tasks', 'responses', 'idempotency_keys', 'pairings'].map((table) => lab.count(table)));

  it('while running costs no task, no result and no key for the first hour', async () => {
    lab.clock.jump(8 * DAY);
    const { held } = await lab.runner.run('schedule');
    expect([held, await left()]).toEqual([true, [1, 1, 1, 1]]);
    for (const survey of (await lab.reports.make()).kinds) expect(survey.due).toBe(0);
  });

  it('while stopped costs none either, nor do quick restarts within that hour', async () => {
    await lab.expiry.stop();
    lab.clock.run(8 * DAY);
    for (let minutes = 0; minutes < 60; minutes += 15) {
      lab = await lab.reopened();
      expect((await lab.runner.run('start')).held).toBe(true);
      expect(await left()).toEqual([1, 1, 1, 1]);
      for (let i = 0; i < 15; i++) {
        lab.clock.run(60_000);
        await lab.expiry.beat();
      }
    }
    expect((await lab.runner.run('schedule')).held).toBe(false);
    expect(await left()).toEqual([0, 0, 0, 0]);
  });
});
