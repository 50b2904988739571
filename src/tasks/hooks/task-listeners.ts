import { Injectable } from '@nestjs/common';
import { Notices } from '../../notices/index.js';
import type { TaskTransition } from './task-transition.js';

/** Hears of transitions once they are on disk. It may do anything: call a webhook, write a file, wait. */
export interface TaskListener {
  /**
   * Called for every transition of every task, in the order of the commits, one after the other: the next call comes when
   * this one has resolved. Up to 1000 wait for it meanwhile; what comes on top is dropped for this listener and counted
   * (notice `listener.dropped`), so one that is slow or hangs costs others nothing. What it throws is logged
   * (`listener.call_failed`) and not tried again. What is still waiting when the process ends is lost: what must arrive is
   * written by a TaskRecorder.
   */
  heard(transition: TaskTransition): void | Promise<void>;
}

/** Transitions that wait for one listener, at most. */
const MOST_WAITING = 1000;

/** One listener with what it has not heard yet. */
class Inbox {
  private readonly waiting: TaskTransition[] = [];
  private isBusy = false;
  private dropped = 0;

  constructor(
    private readonly owner: string,
    private readonly listener: TaskListener,
    private readonly notices: Notices,
  ) {}

  offer(transition: TaskTransition): void {
    if (this.waiting.length >= MOST_WAITING) {
      this.dropped += 1;
      this.notices.emit('listener.dropped', { owner: this.owner, dropped: this.dropped });
      return;
    }
    this.waiting.push(transition);
    if (this.isBusy) return;
    this.isBusy = true;
    // Not in the turn of whoever has just committed.
    setImmediate(() => void this.tell());
  }

  private async tell(): Promise<void> {
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
      try {
        await this.listener.heard(next);
      } catch (error) {
        this.notices.emit('listener.call_failed', { owner: this.owner, task_id: next.task.id, error });
      }
    }
    this.isBusy = false;
  }
}

/** The listeners, each with a queue of its own. */
@Injectable()
export class TaskListeners {
  private readonly inboxes: Inbox[] = [];

  constructor(private readonly notices: Notices) {}

  /** @param owner name of the extension, as notices of its failures have it. It may have several listeners. */
  register(owner: string, listener: TaskListener): void {
    this.inboxes.push(new Inbox(owner, listener, this.notices));
  }

  get isEmpty(): boolean {
    return this.inboxes.length === 0;
  }

  /** After the commit; never throws and never waits. */
  tell(transitions: readonly TaskTransition[]): void {
    for (const inbox of this.inboxes) for (const transition of transitions) inbox.offer(transition);
  }
}
