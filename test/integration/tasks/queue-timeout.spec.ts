import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/index.js';
import { QueueTimeout } from '../../../src/tasks/queue-timeout.js';
import { TaskLab } from '../../support/task-lab.js';

const LIMIT_MS = 60_000;

let lab: TaskLab;
let timeout: QueueTimeout;

const open = (seconds: string): QueueTimeout =>
  new QueueTimeout(
    loadConfig({ LMSP_QUEUE_TIMEOUT_SECONDS: seconds }),
    lab.store.reader,
    lab.units,
    lab.lifecycle,
    lab.notices,
  );

beforeEach(async () => {
  lab = await TaskLab.open();
  timeout = open('60');
});
afterEach(async () => {
  expect(await lab.faults()).toEqual([]);
  await lab.close();
});

const statuses = (...ids: string[]): Promise<string[]> =>
  Promise.all(ids.map(async (id) => (await lab.task(id)).status));

describe('LMSP_QUEUE_TIMEOUT_SECONDS (WIRE B4 row 12)', () => {
  it('fails with queue_timeout what has waited so long since it came, and nothing that came later', async () => {
    const old = await lab.create();
    await timeout.look(0);
    const young = await lab.create();
    await timeout.look(1000);
    await timeout.look(LIMIT_MS - 1);
    expect(await statuses(old.id, young.id)).toEqual(['queued', 'queued']);
    await timeout.look(LIMIT_MS);
    expect(await statuses(old.id, young.id)).toEqual(['failed', 'queued']);
    expect((await lab.task(old.id)).error).toMatchObject({ code: 'queue_timeout', type: 'server_error' });
    expect((await lab.events(old.id)).map(({ type }) => type).slice(-2)).toEqual(['error', 'response.failed']);
    await timeout.look(LIMIT_MS + 1000);
    expect(await statuses(young.id)).toEqual(['failed']);
  });

  it('leaves alone what has begun: running, ended, and waiting for another attempt', async () => {
    const running = await lab.bring('running', { onRestart: 'retry' });
    const ended = await lab.bring('completed');
    const again = await lab.bring('running', { onRestart: 'retry' });
    await lab.recovery.run(() => undefined);
    const before = await statuses(running.id, ended.id, again.id);
    expect(before).toEqual(['queued', 'completed', 'queued']);
    await timeout.look(0);
    await timeout.look(2 * LIMIT_MS);
    expect(await statuses(running.id, ended.id, again.id)).toEqual(before);
  });

  it('takes more than one transaction for many, and counts the time of each start anew', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 120; i += 1) ids.push((await lab.create()).id);
    await timeout.look(LIMIT_MS * 5);
    expect(new Set(await statuses(...ids))).toEqual(new Set(['queued']));
    await timeout.look(LIMIT_MS * 6);
    expect(new Set(await statuses(...ids))).toEqual(new Set(['failed']));
  });

  it('tries again after a disk that takes nothing', async () => {
    const { id } = await lab.create();
    await timeout.look(0);
    await lab.fillDisk();
    await timeout.look(LIMIT_MS);
    expect(await statuses(id)).toEqual(['queued']);
    await lab.freeDisk();
    await timeout.look(LIMIT_MS + 1);
    expect(await statuses(id)).toEqual(['failed']);
  });

  it('0 is no limit', async () => {
    const { id } = await lab.create();
    const none = open('0');
    await none.start();
    await none.stop();
    expect(await statuses(id)).toEqual(['queued']);
  });
});
