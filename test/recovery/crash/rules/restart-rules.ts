import { Faults, type Fault } from '../../../support/fault.js';
import { snapshotOf } from '../../../../src/testing/response-invariants.js';
import type { StoreImage, StoredTask } from '../../../support/store-image.js';
import { isTerminal } from '../../../../src/tasks/task-transitions.js';
import type { StoredEvent } from '../../../../src/tasks/task-log.js';
import { about, type Violation } from './violation.js';

/** Two images of one store with one start of the service between them. */
export interface Restart {
  /** After the kill, before the start. */
  before: StoreImage;
  /** After the next kill. */
  after: StoreImage;
  /** The service said that it was ready: recovery had ended. */
  recovered: boolean;
  /** It was told to claim nothing, and had no clients: `after` is what recovery made of `before`. */
  paused: boolean;
}

/** The table of 11.3, all twelve cells, with what WIRE B6 adds: foreground, interruptions, the retry limit. */
export function restartViolations(restart: Restart): Violation[] {
  return [...restart.before.tasks.values()].flatMap((before) => {
    const { id, status } = before.task;
    if (isTerminal(status)) return [];
    const after = restart.after.tasks.get(id);
    if (!after) return about(id, [{ rule: 'R5', what: `${status} before the restart, and gone after it` }]);
    return about(id, taskFaults(before, after, restart));
  });
}

function taskFaults(before: StoredTask, after: StoredTask, { recovered, paused }: Restart): Fault[] {
  const faults = new Faults();
  const kept = before.events.every((event, i) => after.events[i]?.payload === event.payload);
  faults.unless(kept, 'invariant 9', 'events that were on disk are gone or others');
  const known = `${before.task.status}, ${before.task.background ? before.task.onRestart : 'foreground'}`;
  const news = after.events.slice(before.events.length);
  if (!recovered && news.length === 0) {
    faults.unless(sameRow(before, after), 'C4', `${known}: the row changed without an event`);
    return faults.list;
  }
  new Cell(before, after, news, { known, paused, faults }).check();
  return faults.list;
}

interface CellContext {
  known: string;
  paused: boolean;
  faults: Faults;
}

/** What one restart must have made of one task. */
class Cell {
  private readonly interruptions: number;
  private readonly usedUp: boolean;

  constructor(
    private readonly before: StoredTask,
    private readonly after: StoredTask,
    private readonly news: StoredEvent[],
    private readonly context: CellContext,
  ) {
    const { task } = before;
    const interrupted = task.owner !== null && (task.status === 'loading' || task.status === 'running');
    this.interruptions = task.interruptions + (interrupted ? 1 : 0);
    this.usedUp = this.interruptions >= task.maxInterruptions;
  }

  check(): void {
    const { status, onRestart, background } = this.before.task;
    if (status === 'cancelling') this.ends('response.cancelled', 'cancelled', 'C3');
    else if (onRestart === 'fail' || !background) this.fails();
    else if (status === 'queued') this.stays();
    else if (status === 'running' && onRestart === 'resume') this.resumes();
    else this.waitsAgain();
  }

  private unless(condition: boolean, rule: string, what: string): void {
    this.context.faults.unless(condition, rule, `${this.context.known}: ${what}`);
  }

  private get seen(): string {
    return this.news.map(({ type }) => type).join(', ') || 'no event';
  }

  private ends(type: string, status: string, rule: string): void {
    this.unless(this.news.length === 1 && this.news[0]?.type === type, rule, `${type} was due, ${this.seen} came`);
    this.unless(this.after.task.status === status, 'C1', `it is ${this.after.task.status}`);
  }

  private fails(): void {
    this.ends('response.failed', 'failed', 'C2');
    const { error } = this.after.task;
    this.unless(
      error?.code === 'server_restarted' && error.type === 'server_error',
      'C2',
      `its error is ${error?.code}`,
    );
  }

  private stays(): void {
    const [first, second] = this.news;
    if (this.context.paused) {
      this.unless(sameRow(this.before, this.after) && !first, 'C1', `it was to stay as it is, ${this.seen} came`);
      return;
    }
    if (!first) return;
    const attempt = first.type === 'response.in_progress' ? snapshotOf(first.payload).lmsp.attempt : null;
    const claimed = attempt === this.before.task.attempt + 1;
    const failed = first.type === 'error' && second?.type === 'response.failed';
    const right = claimed || failed || first.type === 'response.cancelled';
    this.unless(right, 'C1', `it was to stay queued until claimed, ${this.seen} came`);
  }

  private waitsAgain(): void {
    const [first] = this.news;
    this.unless(first?.type === 'response.queued', 'C1', `response.queued was due, ${this.seen} came`);
    if (first?.type !== 'response.queued') return;
    const { lmsp } = snapshotOf(first.payload);
    this.unless(lmsp.attempt === this.before.task.attempt, 'B6', 'the attempt is not kept until claimed');
    if (this.givenUp() || !this.context.paused) return;
    const { task } = this.after;
    this.unless(this.news.length === 1 && task.status === 'queued', 'C1', `it is ${task.status} after ${this.seen}`);
    this.unless(task.startCount === this.before.task.startCount + 1, 'B6', 'it did not start over');
    this.counts();
  }

  private resumes(): void {
    const { task, events } = this.before;
    // An earlier recovery has done all there was to do, and nobody took it up.
    const waiting = task.owner === null && events.at(-1)?.type === 'response.in_progress';
    const [first, second] = this.news;
    if (waiting && (first?.type !== 'response.in_progress' || statusIn(first) === 'cancelling')) {
      if (this.context.paused) this.unless(sameRow(this.before, this.after), 'B6', `it was to wait, ${this.seen} came`);
      this.continues(first);
      return;
    }
    this.unless(first?.type === 'response.in_progress', 'C1', `response.in_progress was due, ${this.seen} came`);
    if (first?.type !== 'response.in_progress') return;
    this.unless(statusIn(first) === 'running', 'C1', `it became ${statusIn(first)}`);
    if (this.givenUp()) return;
    this.continues(second);
    if (!this.context.paused) return;
    const now = this.after.task;
    const same = now.status === 'running' && now.startCount === task.startCount && now.attempt === task.attempt;
    this.unless(same && this.news.length === 1, 'C1', `it is ${now.status} after ${this.seen}`);
    this.counts();
  }

  /** The same machine, model and version: every snapshot can be gone on from. */
  private continues(next: StoredEvent | undefined): void {
    this.unless(next?.type !== 'response.queued', 'C1', 'it started over instead of going on');
  }

  /** Interruptions used up: rows 12 and 13 follow the table's own event. True: there is nothing else to look for. */
  private givenUp(): boolean {
    const [, second, third] = this.news;
    const code = third?.type === 'response.failed' ? snapshotOf(third.payload).error?.code : null;
    const limited = second?.type === 'error' && code === 'retry_limit_exceeded';
    if (!this.usedUp) {
      this.unless(!limited, 'B6', `given up after ${this.interruptions} interruptions`);
      return false;
    }
    this.unless(limited, 'B6', `${this.interruptions} interruptions, and not given up: ${this.seen}`);
    return true;
  }

  private counts(): void {
    const { interruptions, owner } = this.after.task;
    this.unless(
      interruptions === this.interruptions,
      'B6',
      `${interruptions} interruptions, not ${this.interruptions}`,
    );
    this.unless(owner === null, 'B6', 'it has an owner');
  }
}

function statusIn(event: StoredEvent): string {
  return snapshotOf(event.payload).lmsp.task_status;
}

function sameRow(before: StoredTask, after: StoredTask): boolean {
  return JSON.stringify(before.task) === JSON.stringify(after.task);
}
