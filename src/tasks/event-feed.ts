import { isTerminalEvent } from './task-transitions.js';
import type { StoredEvent } from './task-log.js';

/** A reader's place at the live end of one task's log. */
export interface FeedSubscription {
  /** Events published since the last take, or null if more came than the reader's bound: read the disk again. */
  take(): StoredEvent[] | null;
  /** Resolves when there is something to take, or when the signal aborts. */
  waiting(signal: AbortSignal): Promise<void>;
  close(): void;
}

class Subscription implements FeedSubscription {
  private events: StoredEvent[] = [];
  private overflowed = false;
  private wake: (() => void) | null = null;

  constructor(
    private readonly bound: number,
    private readonly onClose: () => void,
  ) {}

  offer(events: StoredEvent[]): void {
    if (this.events.length + events.length > this.bound) {
      this.events = [];
      this.overflowed = true;
    } else if (!this.overflowed) {
      this.events.push(...events);
    }
    this.wake?.();
  }

  take(): StoredEvent[] | null {
    const taken = this.overflowed ? null : this.events;
    this.events = [];
    this.overflowed = false;
    return taken;
  }

  async waiting(signal: AbortSignal): Promise<void> {
    if (this.overflowed || this.events.length > 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.wake = null;
        resolve();
      };
      this.wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }

  close(): void {
    this.onClose();
  }
}

/**
 * Tells readers what has been committed, never before (invariant 8). It is only the fast path: a reader that misses
 * something finds it on disk, so a slow one costs a bounded buffer and no more.
 */
export class EventFeed {
  private readonly readers = new Map<string, Set<Subscription>>();

  subscribe(taskId: string, bound: number): FeedSubscription {
    const readers = this.readers.get(taskId) ?? new Set<Subscription>();
    this.readers.set(taskId, readers);
    const subscription = new Subscription(bound, () => {
      readers.delete(subscription);
      if (readers.size === 0 && this.readers.get(taskId) === readers) this.readers.delete(taskId);
    });
    readers.add(subscription);
    return subscription;
  }

  /** Called after the commit that wrote the events, perhaps none. */
  publish(taskId: string, events: StoredEvent[]): void {
    if (events.length > 0) this.offer(taskId, events);
  }

  /** Wakes the task's readers without an event, e.g. after its log was removed. */
  nudge(taskId: string): void {
    this.offer(taskId, []);
  }

  private offer(taskId: string, events: StoredEvent[]): void {
    for (const reader of this.readers.get(taskId) ?? []) reader.offer(events);
  }

  static endsLog(events: StoredEvent[]): boolean {
    const last = events.at(-1);
    return last !== undefined && isTerminalEvent(last.type);
  }
}
