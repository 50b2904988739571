import { describe, expect, it } from 'vitest';
import { EventFeed } from './event-feed.js';
import type { StoredEvent } from './task-log.js';

const never = new AbortController().signal;

function event(sequenceNumber: number, type = 'scripted.word'): StoredEvent {
  return { sequenceNumber, type, payload: '{}' };
}

describe('the feed', () => {
  it('gives each reader of the task what was published since its last take, in order', async () => {
    const feed = new EventFeed();
    const first = feed.subscribe('task_1', 10);
    feed.publish('task_1', [event(1), event(2)]);
    const second = feed.subscribe('task_1', 10);
    feed.publish('task_1', [event(3)]);
    feed.publish('task_2', [event(9)]);
    await first.waiting(never);
    expect(first.take()?.map((one) => one.sequenceNumber)).toEqual([1, 2, 3]);
    expect(second.take()?.map((one) => one.sequenceNumber)).toEqual([3]);
    expect(first.take()).toEqual([]);
  });

  it('hands all readers the same event, so that they can share what is made of it', () => {
    const feed = new EventFeed();
    const readers = [1, 2].map(() => feed.subscribe('task_1', 10));
    const one = event(1);
    feed.publish('task_1', [one]);
    for (const reader of readers) expect(reader.take()?.[0]).toBe(one);
  });

  it('invariant 8: a reader that falls behind its bound holds nothing any more and reads the disk', async () => {
    const feed = new EventFeed();
    const reader = feed.subscribe('task_1', 2);
    feed.publish('task_1', [event(1), event(2)]);
    feed.publish('task_1', [event(3)]);
    feed.publish('task_1', [event(4)]);
    await reader.waiting(never);
    expect(reader.take()).toBeNull();
    feed.publish('task_1', [event(5)]);
    expect(reader.take()?.map((one) => one.sequenceNumber)).toEqual([5]);
  });

  it('a commit larger than the bound is read from disk as well', () => {
    const feed = new EventFeed();
    const reader = feed.subscribe('task_1', 2);
    feed.publish('task_1', [event(1), event(2), event(3)]);
    expect(reader.take()).toBeNull();
  });

  it('wakes a waiting reader on publish, on nudge and on abort', async () => {
    const feed = new EventFeed();
    const reader = feed.subscribe('task_1', 2);
    const published = reader.waiting(never);
    feed.publish('task_1', [event(1)]);
    await published;
    reader.take();
    const nudged = reader.waiting(never);
    feed.nudge('task_1');
    await nudged;
    expect(reader.take()).toEqual([]);
    const abort = new AbortController();
    const aborted = reader.waiting(abort.signal);
    abort.abort();
    await aborted;
    await reader.waiting(abort.signal);
  });

  it('a step without events disturbs no reader: there is nothing to read', async () => {
    const feed = new EventFeed();
    const reader = feed.subscribe('task_1', 2);
    let woken = false;
    const waiting = reader.waiting(never).then(() => (woken = true));
    feed.publish('task_1', []);
    await new Promise(setImmediate);
    expect(woken).toBe(false);
    feed.nudge('task_1');
    await waiting;
  });

  it('a closed reader hears nothing; closing twice, or after others came, does no harm', () => {
    const feed = new EventFeed();
    const reader = feed.subscribe('task_1', 2);
    reader.close();
    const next = feed.subscribe('task_1', 2);
    reader.close();
    feed.publish('task_1', [event(1)]);
    expect(reader.take()).toEqual([]);
    expect(next.take()).toHaveLength(1);
    next.close();
  });

  it('knows the end of a log', () => {
    expect(EventFeed.endsLog([event(1), event(2, 'response.cancelled')])).toBe(true);
    expect(EventFeed.endsLog([event(1)])).toBe(false);
    expect(EventFeed.endsLog([])).toBe(false);
  });
});
