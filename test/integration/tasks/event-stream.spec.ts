import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../../src/tasks/task-log.js';
import type { Task } from '../../../src/tasks/task.js';
import { claimOf, TaskLab } from '../../support/task-lab.js';

const never = new AbortController().signal;
const PAGE = 8;

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open({ LMSP_EVENT_PAGE_SIZE: `${PAGE}` });
});
afterEach(() => lab.close());

async function read(id: string, after: number, signal = new AbortController().signal): Promise<StoredEvent[]> {
  const log = await lab.stream.open(id, after);
  const events: StoredEvent[] = [];
  for await (const event of log.events(signal)) events.push(event);
  return events;
}

function words(task: Task, count: number): Promise<void[]> {
  const step = { events: [{ type: 'scripted.word', payload: { text: 'word' } }], snapshot: null };
  return Promise.all(Array.from({ length: count }, () => lab.journal.append(claimOf(task), step)));
}

function complete(task: Task): Promise<Task> {
  return lab.write((tx) => lab.lifecycle.complete(tx, claimOf(task), null));
}

/** A task of 3 + `count` + 1 events that has ended. */
async function finished(count: number): Promise<Task> {
  const task = await lab.bring('running');
  await words(task, count);
  await complete(task);
  return task;
}

describe('replay (WIRE B5)', () => {
  it('invariant 9: from every cursor a reader gets the rest of the log, byte for byte, and ends', async () => {
    const { id } = await finished(3 * PAGE);
    const all = await lab.events(id);
    for (let cursor = -1; cursor < all.length; cursor += 1) {
      expect(await read(id, cursor), `after ${cursor}`).toEqual(all.slice(cursor + 1));
    }
  });

  it('a log whose length is a whole number of pages ends too', async () => {
    const { id } = await finished(2 * PAGE - 4);
    expect(await read(id, -1)).toHaveLength(2 * PAGE);
  });

  it('open tells whether the task has ended and which number is the last', async () => {
    const task = await lab.bring('running');
    expect(await lab.stream.open(task.id, -1)).toMatchObject({ finished: false, lastSequenceNumber: 2 });
    await complete(task);
    expect(await lab.stream.open(task.id, 3)).toMatchObject({ finished: true, lastSequenceNumber: 3 });
    expect(await read(task.id, 3)).toEqual([]);
  });

  it.each([false, true])('CASES BL-07: a cursor beyond the last number is invalid (finished: %s)', async (ended) => {
    const task = await lab.bring('running');
    if (ended) await complete(task);
    const { lastSequenceNumber: last } = await lab.task(task.id);
    for (const cursor of [last + 1, last + 5, 2 ** 53]) {
      await expect(lab.stream.open(task.id, cursor)).rejects.toMatchObject({
        code: 'invalid_cursor',
        message: expect.stringContaining(`last event, ${last} (incarnation 1`) as string,
      });
      await expect(lab.stream.page(task.id, cursor, 10)).rejects.toMatchObject({ code: 'invalid_cursor' });
    }
    await expect(lab.stream.open(task.id, last)).resolves.toBeDefined();
  });

  it('a task that does not exist is not found', async () => {
    await expect(lab.stream.open('task_absent', -1)).rejects.toMatchObject({ code: 'task_not_found' });
    await expect(lab.stream.page('task_absent', -1, 5)).rejects.toMatchObject({ code: 'task_not_found' });
  });

  it('pages tell whether more follows', async () => {
    const { id } = await finished(4);
    const all = await lab.events(id);
    expect(await lab.stream.page(id, -1, 5)).toEqual({ events: all.slice(0, 5), hasMore: true });
    expect(await lab.stream.page(id, 4, 3)).toEqual({ events: all.slice(5, 8), hasMore: false });
    expect(await lab.stream.page(id, 7, 3)).toEqual({ events: [], hasMore: false });
  });
});

describe('the live end', () => {
  it.each([-1, 0, 2])(
    'a reader that joins at %i while the task runs gets the rest, each once, in order',
    async (after) => {
      const task = await lab.bring('running');
      const reading = read(task.id, after);
      for (let i = 0; i < 5; i += 1) await words(task, 3);
      await complete(task);
      expect(await reading).toEqual((await lab.events(task.id)).slice(after + 1));
    },
  );

  it('many readers that come and go at every number read one and the same log', async () => {
    const task = await lab.bring('running');
    const readers: [number, Promise<StoredEvent[]>][] = [];
    for (let i = 0; i < 40; i += 1) {
      const after = 2 + i;
      readers.push([after, read(task.id, after)], [-1, read(task.id, -1)]);
      await words(task, 1);
    }
    await complete(task);
    const all = await lab.events(task.id);
    for (const [after, reading] of readers) expect(await reading).toEqual(all.slice(after + 1));
  });

  it('a reader slower than the log falls back to the disk and misses nothing', async () => {
    const task = await lab.bring('running');
    const log = await lab.stream.open(task.id, -1);
    const seen: StoredEvent[] = [];
    for await (const event of log.events(never)) {
      seen.push(event);
      if (seen.length < 6) await words(task, 3 * PAGE);
      if (seen.length === 6) await complete(task);
    }
    expect(seen).toEqual(await lab.events(task.id));
    expect(seen.length).toBe(4 + 5 * 3 * PAGE);
  });

  it('CASES BL-07: a reader that attaches exactly when the task ends terminates with the whole log', async () => {
    for (let round = 0; round < 100; round += 1) {
      const task = await lab.bring('running');
      const started: [Promise<unknown>, Promise<StoredEvent[]>] =
        round % 2 ? [complete(task), read(task.id, -1)] : ([read(task.id, -1), complete(task)].reverse() as never);
      const [, events] = await Promise.all(started);
      expect(events).toEqual(await lab.events(task.id));
    }
  });

  it('a reader survives a requeue: the second start follows in the same log', async () => {
    const task = await lab.bring('running');
    const reading = read(task.id, 2);
    await lab.write((tx) => lab.lifecycle.requeueLost(tx, claimOf(task), { interruptions: 1, suspicion: 2 }));
    await lab.write((tx) => lab.lifecycle.start(tx, task.id, 'run_2'));
    await complete(await lab.task(task.id));
    expect((await reading).map(({ type }) => type)).toEqual([
      'response.queued',
      'response.in_progress',
      'response.completed',
    ]);
  });

  it('the abort ends a reader that waits, one that reads, and one that has not begun', async () => {
    const task = await lab.bring('running');
    const abort = new AbortController();
    const waiting = read(task.id, -1, abort.signal);
    const log = await lab.stream.open(task.id, -1);
    const reader = log.events(abort.signal)[Symbol.asyncIterator]();
    expect((await reader.next()).value).toMatchObject({ sequenceNumber: 0 });
    abort.abort();
    expect((await waiting).length).toBeLessThanOrEqual(3);
    while (!(await reader.next()).done);
    expect(await read(task.id, -1, abort.signal)).toEqual([]);
  });

  it('a reader that leaves is forgotten', async () => {
    const task = await lab.bring('running');
    let left = 0;
    const subscribe = lab.feed.subscribe.bind(lab.feed);
    lab.feed.subscribe = (id, bound) => {
      const subscription = subscribe(id, bound);
      const close = subscription.close.bind(subscription);
      subscription.close = () => {
        left += 1;
        close();
      };
      return subscription;
    };
    const log = await lab.stream.open(task.id, -1);
    for await (const event of log.events(never)) if (event.sequenceNumber === 1) break;
    expect(left).toBe(1);
  });
});

describe('a log that is taken away', () => {
  async function deleteEvents(id: string, from: number, to: number): Promise<void> {
    await lab.write((tx) =>
      tx.execute('DELETE FROM task_events WHERE task_id = ? AND sequence_number BETWEEN ? AND ?', [id, from, to]),
    );
  }

  it.each([
    ['in the middle', 2 * PAGE, 2 * PAGE + 3],
    ['at the beginning', 0, 3],
    ['at the end', 3 * PAGE, 1000],
    ['wholly', 0, 1000],
  ])(
    'a reader that meets rows missing %s gets an error, never a jump and never a wait for ever',
    async (_, from, to) => {
      const { id } = await finished(4 * PAGE);
      await deleteEvents(id, from, to);
      await expect(read(id, -1)).rejects.toMatchObject({ code: 'event_log_expired' });
    },
  );

  it.each([
    ['in the middle', 5, 8],
    ['at the beginning', 0, 3],
    ['at the end', 10, 1000],
    ['wholly', 0, 1000],
  ])('a page from which rows are missing %s is an error, never a shorter log', async (_, from, to) => {
    const { id } = await finished(4 * PAGE);
    await deleteEvents(id, from, to);
    await expect(lab.stream.page(id, -1, 1000)).rejects.toMatchObject({ code: 'event_log_expired' });
  });

  it('CASES BL-07: an expired log answers with event_log_expired, at once', async () => {
    const { id } = await finished(2);
    await lab.write((tx) => tx.execute('UPDATE tasks SET events_expired_at = 1 WHERE id = ?', [id]));
    await expect(lab.stream.open(id, -1)).rejects.toMatchObject({ code: 'event_log_expired' });
    await expect(lab.stream.page(id, -1, 5)).rejects.toMatchObject({ code: 'event_log_expired' });
  });

  it('a task removed under a reader ends it with task_not_found or event_log_expired', async () => {
    const { id } = await finished(4 * PAGE);
    const log = await lab.stream.open(id, -1);
    const reader = log.events(never)[Symbol.asyncIterator]();
    await reader.next();
    await lab.write((tx) => lab.lifecycle.remove(tx, id));
    const rest = (async () => {
      while (!(await reader.next()).done);
    })();
    await expect(rest).rejects.toMatchObject({ code: expect.stringMatching(/^(task_not_found|event_log_expired)$/) });
  });
});

describe('ended', () => {
  it('resolves at the end of the task, of its existence, or of the patience', async () => {
    const task = await lab.bring('running');
    const ended = lab.stream.ended(task.id, never);
    await words(task, 3 * PAGE);
    await complete(task);
    await ended;
    await lab.stream.ended(task.id, never);
    await lab.write((tx) => lab.lifecycle.remove(tx, task.id));
    await lab.stream.ended(task.id, never);
    const other = await lab.bring('running');
    const abort = new AbortController();
    const patient = lab.stream.ended(other.id, abort.signal);
    abort.abort();
    await patient;
    await lab.stream.ended(other.id, AbortSignal.abort());
  });
});
