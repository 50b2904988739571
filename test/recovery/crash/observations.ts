import type { Fault } from '../../support/fault.js';

/** One time a create was sent. */
export interface ObservedTry {
  /** Null: killed before the head of an answer came. */
  status: number | null;
  /** As the head of the answer names it. */
  taskId: string | null;
  /** The service said that it had answered this key before. */
  replayed: boolean;
  /** The whole body of an answer that is no stream; null when it was cut. */
  body: string | null;
}

/** One create, perhaps sent again with its key after a kill took the answer. */
export interface ObservedCreate {
  /** Unique; stands in the task's metadata, so that a task whose answer was lost is known too. */
  label: string;
  background: boolean;
  streamed: boolean;
  /** What was asked for; null: nothing, so the default. */
  onRestart: string | null;
  key: string | null;
  tries: ObservedTry[];
}

/** A task as GET /v1/tasks/{id} showed it. */
export interface ObservedState {
  status: string;
  attempt: number;
  last_sequence_number: number;
}

export interface ObservedCancel {
  /** HTTP status; null: killed before the answer. */
  status: number | null;
  /** `lmsp.task_status` of the answered response, or the error's code. */
  outcome: string | null;
}

/** All that clients were told of one task. */
export interface ObservedTask {
  /** Payloads by number, byte for byte. */
  events: Map<number, string>;
  states: ObservedState[];
  /** Bodies of whole responses that showed an end. */
  ends: Set<string>;
  cancels: ObservedCancel[];
}

/** What all clients of a run saw, to be held against the store. */
export class Observations {
  readonly creates = new Map<string, ObservedCreate>();
  readonly tasks = new Map<string, ObservedTask>();
  /** What was wrong the moment a client saw it. */
  readonly faults: (Fault & { subject: string })[] = [];
  /** Events received, repeats included. */
  received = 0;

  of(taskId: string): ObservedTask {
    let task = this.tasks.get(taskId);
    if (!task) {
      task = { events: new Map(), states: [], ends: new Set(), cancels: [] };
      this.tasks.set(taskId, task);
    }
    return task;
  }

  event(taskId: string, number: number, payload: string): void {
    this.received += 1;
    const { events } = this.of(taskId);
    const before = events.get(number);
    if (before !== undefined && before !== payload) this.fault(taskId, 'invariant 9', `event ${number} has changed`);
    events.set(number, payload);
  }

  fault(subject: string, rule: string, what: string): void {
    this.faults.push({ subject, rule, what });
  }
}
