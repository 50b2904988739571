import type { ErrorBody } from '../../errors/index.js';
import type { LifecycleEvent, OnRestart, TaskCommand, TaskStatus } from '../task-transitions.js';
import type { Task } from '../task.js';

/**
 * What hooks see of a task: its row after the change, without input and result, which may be large and are nobody's
 * business but their client's. Times are epoch milliseconds. `metadata` is the client's own: it belongs in no log. It is a
 * copy; nothing that a hook does to it changes the task.
 */
export interface TaskFacts {
  readonly id: string;
  /** `response`, `model.pull`, or the type of an extension. */
  readonly type: string;
  /** Whose it is. */
  readonly clientId: string;
  /** The response that it makes; null for every other type than `response`. */
  readonly responseId: string | null;
  /** Id of the model that it runs on; null for types that name none. */
  readonly model: string | null;
  readonly status: TaskStatus;
  readonly onRestart: OnRestart;
  readonly background: boolean;
  /** Runs that have begun; only grows. */
  readonly attempt: number;
  /** Unclean ends of an attempt in a row. */
  readonly interruptions: number;
  /** Number of its last event. */
  readonly lastSequenceNumber: number;
  /** Why it failed. */
  readonly error: Readonly<ErrorBody> | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly cancelRequestedAt: number | null;
}

/** One row of the transition table taking place (docs/task-lifecycle.md): what recorders write with it, and listeners hear of. */
export interface TaskTransition {
  /** Name of the row: `enqueue`, `start`, `complete`, `requestCancel`, `recoverFail`, … */
  readonly command: TaskCommand;
  /** Status before; null for `enqueue`, which makes the task. */
  readonly from: TaskStatus | null;
  /** Status after; the same as before where only the owner changes (`takeUp`, `reloadLost`, `interruptLost`). */
  readonly to: TaskStatus;
  /** The lifecycle event that was appended with it, the last where there are several; null for `takeUp` and `reloadLost`. */
  readonly event: LifecycleEvent | null;
  /** Number of that event, or of the task's last one where it has none. With the task's id it names the change, once and for all. */
  readonly sequenceNumber: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly task: TaskFacts;
}

export function taskFacts(task: Task): TaskFacts {
  return {
    id: task.id,
    type: task.type,
    clientId: task.clientId,
    responseId: task.responseId,
    model: task.model,
    status: task.status,
    onRestart: task.onRestart,
    background: task.background,
    attempt: task.attempt,
    interruptions: task.interruptions,
    lastSequenceNumber: task.lastSequenceNumber,
    error: task.error && { ...task.error },
    metadata: { ...task.metadata },
    createdAt: task.createdAt,
    startedAt: task.startedAt,
    finishedAt: task.finishedAt,
    cancelRequestedAt: task.cancelRequestedAt,
  };
}
