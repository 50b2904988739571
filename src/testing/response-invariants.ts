import { isTerminalEvent, type TaskStatus } from '../tasks/task-transitions.js';
import { Faults, type Fault } from './fault.js';
import { isLifecycleEvent, lastLifecycleEvent, STATUS_OF_EVENT } from './log-invariants.js';
import { OutputModel, type ItemPayload, type OutputEvent } from './output-model.js';
import type { StoredTask } from './store-image.js';

/** The snapshot of a lifecycle event, as far as it is checked. */
export interface Snapshot {
  id: string;
  status: string;
  error: { code: string; type: string } | null;
  output: ItemPayload[];
  usage: { input_tokens: number; output_tokens: number; total_tokens: number } | null;
  metadata: Record<string, string>;
  lmsp: { task_status: TaskStatus; attempt: number; on_restart: string; seed: number; replayed_tokens: number };
}

/** Where a status may lead with an event (WIRE B4). Written anew here: a table that checks itself finds nothing. */
const MOVES: Record<string, readonly string[]> = {
  '': ['queued'],
  queued: ['queued', 'loading', 'running', 'cancelled', 'failed'],
  loading: ['running', 'failed', 'cancelling', 'queued'],
  running: ['completed', 'failed', 'cancelling', 'queued', 'running'],
  cancelling: ['cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

/** Codes of failures that nobody was connected to: `error` precedes all others (WIRE B4, decision). */
const SILENT_FAILURES = ['server_restarted'];

const STATUS_ON_THE_WIRE: Record<string, string> = {
  queued: 'queued',
  loading: 'in_progress',
  running: 'in_progress',
  cancelling: 'in_progress',
};

export function snapshotOf(payload: string): Snapshot {
  return (JSON.parse(payload) as { response: Snapshot }).response;
}

/** Faults of a response's task: the walk through WIRE B4, its output by the invariants 3, 5, 6, 7, 10, and its row. */
export function responseFaults(stored: StoredTask): Fault[] {
  const walk = new LogWalk(stored);
  for (const [i, event] of stored.events.entries()) walk.next(event.type, event.payload, i);
  walk.end();
  return walk.faults.list;
}

class LogWalk {
  readonly faults = new Faults();
  private readonly output = new OutputModel(this.faults);
  private status: TaskStatus | '' = '';
  private attempt = 0;
  private first: Snapshot | null = null;
  private errorBefore = false;

  constructor(private readonly stored: StoredTask) {}

  next(type: string, payload: string, number: number): void {
    if (isLifecycleEvent(type)) this.lifecycle(type, snapshotOf(payload), number);
    else if (type === 'error') this.errorBefore = true;
    else {
      this.faults.unless(this.status === 'running', 'B4', `${type} (${number}) while ${this.status}`);
      this.output.apply(JSON.parse(payload) as OutputEvent, number);
    }
  }

  private lifecycle(type: string, snapshot: Snapshot, number: number): void {
    const { faults, stored } = this;
    const to = snapshot.lmsp.task_status;
    const at = `${type} (${number})`;
    faults.unless(STATUS_OF_EVENT[type]?.includes(to) === true, 'invariant 4', `${at} names the status ${to}`);
    faults.unless(MOVES[this.status]?.includes(to) === true, 'B4', `${at} leads from ${this.status} to ${to}`);
    if (this.status === 'queued' && to === 'queued') faults.unless(number === 1, 'B4', `${at} says queued twice`);
    const onWire = STATUS_ON_THE_WIRE[to] ?? type.slice('response.'.length);
    faults.unless(snapshot.status === onWire, 'B4', `${at} shows ${snapshot.status}`);
    this.checkAttempt(to, snapshot.lmsp.attempt, at);
    this.checkPolicy(to, at);
    if (to === 'failed') {
      const silent = SILENT_FAILURES.includes(snapshot.error?.code ?? '');
      faults.unless(
        silent !== this.errorBefore,
        'B4',
        `${at} ${snapshot.error?.code}, error before: ${this.errorBefore}`,
      );
    } else faults.unless(!this.errorBefore, 'B4', `${at} follows an error`);
    this.first ??= snapshot;
    const same = (['id', 'metadata'] as const).every((key) => equal(snapshot[key], this.first?.[key]));
    const fixed = snapshot.lmsp.seed === this.first.lmsp.seed && snapshot.lmsp.on_restart === stored.task.onRestart;
    faults.unless(same && fixed, 'invariant 7', `${at} is of another response or request`);
    this.output.snapshot(type, snapshot.output, number);
    this.status = to;
    this.attempt = snapshot.lmsp.attempt;
  }

  private checkAttempt(to: TaskStatus, attempt: number, at: string): void {
    const claimed = this.status === 'queued' && (to === 'loading' || to === 'running');
    // A take-up raises it without an event (row 20).
    const mayGrow = this.status === 'running';
    const right = claimed ? attempt === this.attempt + 1 : mayGrow ? attempt >= this.attempt : attempt === this.attempt;
    this.faults.unless(right, 'B4', `${at} has attempt ${attempt} after ${this.attempt}`);
  }

  /** Only a restart policy leads back (rows 15 to 18), and never that of a foreground task. */
  private checkPolicy(to: TaskStatus, at: string): void {
    const { onRestart, background } = this.stored.task;
    const again = background && onRestart !== 'fail';
    const back = to === 'queued' && (this.status === 'loading' || this.status === 'running');
    this.faults.unless(!back || again, 'C1', `${at} puts a task back whose policy is ${onRestart}`);
    const resumed = to === 'running' && this.status === 'running';
    this.faults.unless(!resumed || (again && onRestart === 'resume'), 'C1', `${at} resumes under ${onRestart}`);
  }

  end(): void {
    const { faults, stored } = this;
    const { task, response, events } = stored;
    faults.unless(this.attempt <= task.attempt, 'B4', `the log knows attempt ${this.attempt}, the row ${task.attempt}`);
    if (!response) {
      faults.unless(false, 'R2', 'the task has no response');
      return;
    }
    const last = lastLifecycleEvent(events);
    if (!last) return;
    const snapshot = snapshotOf(last.payload);
    const ended = isTerminalEvent(last.type);
    const isSnapshot = response.body === JSON.stringify(ended ? snapshot : takenUp(snapshot, response.body));
    faults.unless(isSnapshot, 'invariant 3', 'the stored response is not the last snapshot');
    faults.unless(
      response.bodySequenceNumber === last.sequenceNumber,
      'C4',
      `the response is of event ${response.bodySequenceNumber}, not ${last.sequenceNumber}`,
    );
    const { status, error } = snapshot;
    faults.unless(response.status === status, 'R2', `the response is ${response.status}, its last snapshot ${status}`);
    faults.unless(equal(error, task.error), 'C2', 'the errors of task and response differ');
    if (ended) {
      faults.unless(response.finishedAt === task.finishedAt, 'R2', 'task and response ended at different times');
      faults.unless(task.owner === null, 'B4', 'an ended task has an owner');
    }
  }
}

/** A take-up has no event: it writes its attempt and what it replays into the row alone (row 20). */
function takenUp(snapshot: Snapshot, body: string): Snapshot {
  const { attempt, replayed_tokens } = (JSON.parse(body) as Snapshot).lmsp;
  return { ...snapshot, lmsp: { ...snapshot.lmsp, attempt, replayed_tokens } };
}

function equal(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
