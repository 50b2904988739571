import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QueueTally } from '../../../src/operations/metrics/queue-tally.js';
import { TaskReadings } from '../../../src/operations/metrics/task-readings.js';
import { TaskLab, type Found } from '../../support/task-lab.js';

const EVERY: Found[] = ['queued', 'loading', 'running', 'unowned', 'cancelling', 'completed', 'failed', 'cancelled'];

describe('the tally of waiting tasks (OPERATE 3.2)', () => {
  let lab: TaskLab;
  let tally: QueueTally;

  beforeEach(async () => {
    lab = await TaskLab.open();
    tally = new QueueTally(lab.store.units, lab.queries, lab.notices);
  });

  afterEach(() => lab.close());

  const counted = () =>
    lab.store.reader.query(
      `select type, model, count(*) as waiting from tasks where status = 'queued' group by type, model order by model`,
    );
  const told = async () => (await tally.lanes()).sort((a, b) => String(a.model).localeCompare(String(b.model)));

  it('begins with what is on disk and follows every way into and out of the queue', async () => {
    for (const found of EVERY) await lab.bring(found, { model: 'a' });
    expect(await told()).toEqual([{ type: 'scripted', model: 'a', waiting: 1 }]);
    for (const found of EVERY) for (const model of ['a', 'b']) await lab.bring(found, { model });
    expect(await told()).toEqual([
      { type: 'scripted', model: 'a', waiting: 2 },
      { type: 'scripted', model: 'b', waiting: 1 },
    ]);
    const running = await lab.bring('running', { model: 'b' });
    await lab.write((tx) => lab.lifecycle.recover(tx, [{ command: 'recoverRetry', taskIds: [running.id] }]));
    expect(await told()).toEqual(await counted());
    const doomed = await lab.bring('queued', { model: 'c' });
    const error = { type: 'server_error', code: 'queue_timeout', message: 'too late', param: null };
    await lab.write((tx) => lab.lifecycle.failQueued(tx, doomed.id, error));
    expect(await told()).toEqual(await counted());
  });

  it('loses none that commits while it counts', async () => {
    const creates = Array.from({ length: 20 }, () => lab.create({ model: 'a' }));
    const during = tally.lanes();
    const later = Array.from({ length: 20 }, () => lab.create({ model: 'a' }));
    await Promise.all([...creates, during, ...later]);
    expect(await told()).toEqual([{ type: 'scripted', model: 'a', waiting: 40 }]);
  });

  it('counts nothing of a unit that rolls back', async () => {
    await tally.lanes();
    const failed = lab.write(async (tx) => {
      await lab.lifecycle.enqueue(tx, [lab.draft({ model: 'a' })]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await told()).toEqual([]);
  });

  it('goes with the age of the first that waits for each model, and the tasks that are held', async () => {
    const readings = new TaskReadings(lab.queries, tally);
    const first = await lab.create({ model: 'a' });
    await lab.create({ model: 'a' });
    await lab.bring('unowned', { model: 'a' });
    await lab.bring('cancelling');
    const { byStatus, oldest } = await readings.take();
    expect(byStatus).toEqual({ queued: 2, loading: 0, running: 1, cancelling: 1 });
    expect(oldest).toEqual([{ model: 'a', ageMs: expect.any(Number) }]);
    const [row] = await lab.queries.firstInLanes([{ type: 'scripted', model: 'a' }]);
    expect(row).toEqual({ type: 'scripted', model: 'a', acceptedAt: first.createdAt });
    expect(await lab.queries.firstInLanes([{ type: 'scripted', model: null }])).toEqual([]);
  });
});
