import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { readFact, StoreReader } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { EventFeed, type FeedSubscription } from './event-feed.js';
import { readEvents, type StoredEvent } from './task-log.js';
import { isTerminal, isTerminalEvent, type TaskStatus } from './task-transitions.js';
import { TaskNotFound } from './tasks.errors.js';

/** A task's log, opened at a cursor that was checked. */
export interface OpenedLog {
  /** The task has ended: no event will be added. */
  finished: boolean;
  lastSequenceNumber: number;
  /**
   * Events behind the cursor: from disk in pages, then live; ends by itself after the terminal event, or early when
   * the signal aborts. Throws event_log_expired when rows vanished meanwhile. Holds no read transaction between pages.
   */
  events(signal: AbortSignal): AsyncIterable<StoredEvent>;
}

interface Head {
  status: TaskStatus;
  last_sequence_number: number;
  events_expired_at: number | null;
}

/** Reads event logs: replay, then tail (WIRE B5). */
@Injectable()
export class TaskEventStream {
  constructor(
    private readonly reader: StoreReader,
    private readonly feed: EventFeed,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Throws task_not_found, event_log_expired, or invalid_cursor when the cursor lies behind the last number. */
  async open(taskId: string, after: number): Promise<OpenedLog> {
    const head = await this.head(taskId);
    if (after > head.last_sequence_number) throw await this.beyondEnd(after, head.last_sequence_number);
    return {
      finished: isTerminal(head.status),
      lastSequenceNumber: head.last_sequence_number,
      events: (signal) => this.follow(taskId, after, signal),
    };
  }

  /** One page of stored events behind a number. Throws as `open` does. */
  async page(taskId: string, after: number, limit: number): Promise<{ events: StoredEvent[]; hasMore: boolean }> {
    const head = await this.head(taskId);
    if (after > head.last_sequence_number) throw await this.beyondEnd(after, head.last_sequence_number);
    const events = await readEvents(this.reader, taskId, after, limit + 1);
    // Retention may have begun since the head was read; what is left of a log must not look like the whole.
    const missing = events.length < Math.min(limit + 1, head.last_sequence_number - after);
    if (missing || events.some(({ sequenceNumber }, i) => sequenceNumber !== after + 1 + i)) throw expired();
    return { events: events.slice(0, limit), hasMore: events.length > limit };
  }

  /** Resolves when the task has ended (or is gone), or the signal aborts. */
  async ended(taskId: string, signal: AbortSignal): Promise<void> {
    const subscription = this.feed.subscribe(taskId, this.config.eventPageSize);
    try {
      while (!signal.aborted) {
        const [row] = await this.reader.query<Head>('select status from tasks where id = ?', [taskId]);
        if (!row || isTerminal(row.status)) return;
        await untilEnd(subscription, signal);
      }
    } finally {
      subscription.close();
    }
  }

  /** A store that was put back from a copy has another incarnation, and gives numbers out again (WIRE B5). */
  private async beyondEnd(after: number, last: number): Promise<DomainError> {
    const incarnation = (await readFact(this.reader, 'incarnation')) ?? '1';
    return new DomainError(
      'invalid_cursor',
      `The cursor ${after} lies behind the last event, ${last} (incarnation ${incarnation} of the store).`,
      { param: 'starting_after' },
    );
  }

  /** Status and last number in one statement. */
  private async head(taskId: string): Promise<Head> {
    const [head] = await this.reader.query<Head>(
      'select status, last_sequence_number, events_expired_at from tasks where id = ?',
      [taskId],
    );
    if (!head) throw new TaskNotFound(taskId);
    if (head.events_expired_at !== null) throw expired();
    return head;
  }

  private async *follow(taskId: string, after: number, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    // Subscribed before the first read, so that nothing falls between disk and feed.
    const subscription = this.feed.subscribe(taskId, this.config.eventPageSize);
    let last = after;
    let ended = false;
    try {
      while (!signal.aborted) {
        for await (const event of this.replay(taskId, last, signal)) {
          last = event.sequenceNumber;
          yield event;
          if (isTerminalEvent(event.type)) return;
        }
        // A log that was whole before this replay would have shown its end.
        if (ended && !signal.aborted) throw expired();
        const head = await this.head(taskId);
        ended = isTerminal(head.status);
        if (ended && head.last_sequence_number === last) return;
        if (ended) continue;
        for await (const event of tail(subscription, last, signal)) {
          last = event.sequenceNumber;
          yield event;
          if (isTerminalEvent(event.type)) return;
        }
      }
    } finally {
      subscription.close();
    }
  }

  private async *replay(taskId: string, after: number, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    let last = after;
    while (!signal.aborted) {
      const events = await readEvents(this.reader, taskId, last, this.config.eventPageSize);
      for (const event of events) {
        if (event.sequenceNumber !== last + 1) throw expired();
        last = event.sequenceNumber;
        yield event;
      }
      if (events.length < this.config.eventPageSize) return;
    }
  }
}

/** Live events as long as they follow each other without a gap; ends at a gap, which is then read from disk. */
async function* tail(subscription: FeedSubscription, after: number, signal: AbortSignal): AsyncGenerator<StoredEvent> {
  let last = after;
  for (;;) {
    await subscription.waiting(signal);
    if (signal.aborted) return;
    const events = subscription.take();
    if (events === null || events.length === 0) return;
    for (const event of events) {
      if (event.sequenceNumber <= last) continue;
      if (event.sequenceNumber !== last + 1) return;
      last = event.sequenceNumber;
      yield event;
    }
  }
}

async function untilEnd(subscription: FeedSubscription, signal: AbortSignal): Promise<void> {
  for (;;) {
    await subscription.waiting(signal);
    if (signal.aborted) return;
    const events = subscription.take();
    if (events === null || events.length === 0 || EventFeed.endsLog(events)) return;
  }
}

function expired(): DomainError {
  return new DomainError('event_log_expired', 'The events of this task are no longer kept.');
}
