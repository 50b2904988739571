import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskTransition } from '../../../src/tasks/index.js';
import { TaskLab } from '../../support/task-lab.js';
import { waitFor } from '../../support/wait-for.js';

let lab: TaskLab;
const told: string[] = [];
const failed: unknown[] = [];
const dropped: number[] = [];
beforeEach(async () => {
  lab = await TaskLab.open();
  for (const list of [told, failed, dropped]) list.length = 0;
  lab.notices.on('listener.call_failed', (notice) => void failed.push(notice));
  lab.notices.on('listener.dropped', (notice) => void dropped.push(notice.dropped));
});
afterEach(() => lab.close());

const listening = {
  heard: ({ task, command, from, to, event, sequenceNumber }: TaskTransition): void => {
    told.push(`${task.id} ${command} ${from}→${to} ${event} ${sequenceNumber}`);
  },
};

describe('a listener (HOUSE 3.5)', () => {
  it('hears of every transition in order, once it is on disk', async () => {
    lab.listeners.register('the test', listening);
    const { id } = await lab.create();
    await lab.runner.start();
    await lab.stream.ended(id, AbortSignal.timeout(5000));
    await waitFor('the news', () => told.length === 3);
    expect(told).toEqual([
      `${id} enqueue null→queued response.queued 1`,
      `${id} start queued→running response.in_progress 2`,
      `${id} complete running→completed response.completed 3`,
    ]);
  });

  it('hears nothing of what was rolled back', async () => {
    lab.listeners.register('the test', listening);
    const { id } = await lab.bring('queued');
    const undone = lab.write(async (tx) => {
      await lab.lifecycle.cancelQueued(tx, id);
      throw new Error('not this time');
    });
    await expect(undone).rejects.toThrow('not this time');
    await lab.write((tx) => lab.lifecycle.start(tx, id, 'run_1'));
    await waitFor('the news', () => told.length === 2);
    expect(told.map((line) => line.split(' ')[1])).toEqual(['enqueue', 'start']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('that %s is told of, and disturbs neither the service nor another', async (_, heard) => {
    lab.listeners.register('bad', { heard });
    lab.listeners.register('good', listening);
    const { id } = await lab.bring('cancelled');
    await waitFor('the news', () => told.length === 2 && failed.length === 2);
    expect((await lab.task(id)).status).toBe('cancelled');
    expect(failed[0]).toMatchObject({ owner: 'bad', task_id: id, error: expect.any(Error) as Error });
    expect(await lab.faults()).toEqual([]);
  });

  it('that hangs loses what comes beyond its queue, which is counted; nobody else waits', async () => {
    lab.listeners.register('hanging', { heard: () => new Promise<void>(() => undefined) });
    lab.listeners.register('good', listening);
    const accept = (count: number) =>
      lab.write((tx) =>
        lab.lifecycle.enqueue(
          tx,
          Array.from({ length: count }, () => lab.draft()),
        ),
      );
    await accept(1);
    await waitFor('the first call', () => told.length === 1);
    await accept(1000);
    expect(dropped).toEqual([]);
    await waitFor('room in the other queue', () => told.length === 1001);
    await accept(3);
    await waitFor('the rest', () => told.length === 1004);
    expect(dropped).toEqual([1, 2, 3]);
  });

  it('cannot change the task by what it is told', async () => {
    lab.listeners.register('meddling', {
      heard: ({ task }) => void Object.assign(task.metadata as Record<string, string>, { a: 'changed' }),
    });
    lab.listeners.register('good', { heard: ({ task }) => void told.push(task.metadata.a ?? '') });
    const { id } = await lab.create({ metadata: { a: 'b' } });
    await waitFor('the news', () => told.length === 1);
    expect((await lab.task(id)).metadata).toEqual({ a: 'b' });
  });
});
