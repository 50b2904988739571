import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QueueCounts } from '../../../src/tasks/queue-counts.js';
import type { Task } from '../../../src/tasks/task.js';
import { insertClient } from '../../support/store.js';
import { TaskLab } from '../../support/task-lab.js';

let lab: TaskLab;
let tasks: Task[];
beforeAll(async () => {
  lab = await TaskLab.open();
  await lab.write((tx) => insertClient(tx, 'cli_other'));
  tasks = [];
  for (const found of ['completed', 'queued', 'failed', 'queued', 'running'] as const)
    tasks.push(await lab.bring(found));
  tasks.push(await lab.bring('queued', { model: 'pocket' }));
  await lab.bring('queued', { clientId: 'cli_other' });
});
afterAll(() => lab.close());

function ids(some: Task[]): string[] {
  return some.map(({ id }) => id);
}

describe('task queries', () => {
  it('WIRE B0: a foreign task is as absent as one that never was', async () => {
    const { id } = tasks[0]!;
    expect(await lab.queries.find(id, 'cli_test')).toEqual(tasks[0]);
    expect(await lab.queries.find(id, 'cli_other')).toBeNull();
    expect(await lab.queries.find('task_absent', 'cli_test')).toBeNull();
    expect(await lab.queries.get(id, 'cli_test')).toEqual(tasks[0]);
    await expect(lab.queries.get(id, 'cli_other')).rejects.toMatchObject({ code: 'task_not_found' });
  });

  it.each(['asc', 'desc'] as const)('pages in order %s cover every task of the client once', async (order) => {
    const seen: string[] = [];
    for (let after: string | undefined; ; after = seen.at(-1)) {
      const page = await lab.queries.page({ clientId: 'cli_test', limit: 2, order, after });
      seen.push(...ids(page.tasks));
      if (!page.hasMore) break;
    }
    expect(seen).toEqual(order === 'asc' ? ids(tasks) : ids(tasks).reverse());
  });

  it('filters by status and model', async () => {
    const request = { clientId: 'cli_test', limit: 100, order: 'asc' as const };
    const queued = await lab.queries.page({ ...request, statuses: ['queued', 'failed'] });
    expect(ids(queued.tasks)).toEqual(ids([tasks[1]!, tasks[2]!, tasks[3]!, tasks[5]!]));
    const pocket = await lab.queries.page({ ...request, statuses: ['queued'], model: 'pocket' });
    expect(ids(pocket.tasks)).toEqual(ids([tasks[5]!]));
    expect((await lab.queries.page({ ...request, statuses: [] })).tasks).toEqual([]);
  });

  it('a page behind a task that the client does not have is invalid_cursor', async () => {
    const page = lab.queries.page({ clientId: 'cli_other', limit: 2, order: 'asc', after: tasks[0]!.id });
    await expect(page).rejects.toMatchObject({ code: 'invalid_cursor' });
  });

  it('counts what waits of each client, inside the unit that is about to add to it', async () => {
    const counts = await lab.write((tx) => lab.queries.queuedByClient(tx));
    expect(Object.fromEntries(counts)).toEqual({ cli_test: 3, cli_other: 1 });
  });

  it('keeps these counts by what commits, and by nothing that is rolled back', async () => {
    const kept = new QueueCounts(lab.queries, lab.notices);
    const both = async (): Promise<object[]> =>
      lab.write(async (tx) => [await kept.byClient(tx), await lab.queries.queuedByClient(tx)].map(Object.fromEntries));
    const equal = async (): Promise<void> => {
      const [counted, inStore] = await both();
      expect(counted).toEqual(inStore);
    };
    await equal();
    const added = await lab.bring('queued', { clientId: 'cli_other' });
    await equal();
    await lab.write((tx) => lab.lifecycle.cancelQueued(tx, added.id));
    await equal();
    const failing = lab.write(async (tx) => {
      await lab.lifecycle.start(tx, tasks[1]!.id, 'run_1');
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await equal();
  });

  it('WIRE B4: the queue position counts the tasks ahead in the same lane, at most; null when not queued', async () => {
    // The other client's only task may have its turn before the first and before the second.
    expect(await lab.queries.queuePosition(tasks[1]!)).toBe(1);
    expect(await lab.queries.queuePosition(tasks[3]!)).toBe(2);
    expect(await lab.queries.queuePosition(tasks[5]!)).toBe(0);
    expect(await lab.queries.queuePosition(tasks[4]!)).toBeNull();
  });
});
