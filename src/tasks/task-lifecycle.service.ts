import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/index.js';
import { type ErrorBody } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { EventFeed } from './event-feed.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { insertEvents } from './step-writer.js';
import { insertTasks, type TaskDraft } from './task-drafts.js';
import { TaskHandlers, type UnusableSnapshot } from './task-handlers.js';
import { TaskJournal } from './task-journal.js';
import { eventJson, type StoredEvent } from './task-log.js';
import {
  isTerminal,
  TASK_TRANSITIONS,
  type LifecycleEvent,
  type TaskCommand,
  type TaskStatus,
  type Transition,
} from './task-transitions.js';
import type { Claim, JsonObject, Suspicion, Task } from './task.js';
import { TaskNotFound, TransitionRefused } from './tasks.errors.js';
import { updateStatus, type StatusChange } from './status-update.js';

/** What the loss of its runner means for a task: an interruption or none, and what is held against it. */
export interface Blame {
  interruptions: 0 | 1;
  suspicion: Suspicion;
}

/**
 * The executor of the transition table: the only writer of status, events and snapshots (HOUSE 5). Every method needs
 * the unit that the caller opened; status, number, events and the type's own view are written together (R2, C4).
 */
@Injectable()
export class TaskLifecycleService {
  constructor(
    private readonly handlers: TaskHandlers,
    private readonly journal: TaskJournal,
    private readonly feed: EventFeed,
    private readonly notices: Notices,
    private readonly keys: IdempotencyKeys,
  ) {}

  /**
   * Row 1, for many tasks at once: each is on disk as `queued` with its events 0 and 1, and with its idempotency key,
   * when the unit commits (R1).
   */
  async enqueue(tx: Tx, drafts: TaskDraft[]): Promise<Task[]> {
    const now = Date.now();
    const tasks = await insertTasks(tx, drafts, now);
    const events = drafts.flatMap((draft) =>
      TASK_TRANSITIONS.enqueue.events.map((type, i) => ({
        taskId: draft.id,
        sequenceNumber: i,
        type,
        payload: eventJson(type, i, draft.view),
      })),
    );
    await insertEvents(tx, events, now);
    await this.keys.bind(tx, drafts, now);
    tx.afterCommit(() => {
      for (const task of tasks) this.announce('enqueue', task, now);
    });
    return tasks;
  }

  /** Row 2: claimed, the model has to be loaded first. */
  startLoading(tx: Tx, taskId: string, owner: string): Promise<Task> {
    return this.execute(tx, 'startLoading', taskId, { newOwner: owner });
  }

  /** Row 3: claimed, what runs it is ready. */
  start(tx: Tx, taskId: string, owner: string): Promise<Task> {
    return this.execute(tx, 'start', taskId, { newOwner: owner });
  }

  /** Row 4: the model has been loaded. */
  startLoaded(tx: Tx, claim: Claim): Promise<Task> {
    return this.execute(tx, 'startLoaded', claim.taskId, { claim });
  }

  /** Row 5: loading failed. */
  failLoading(tx: Tx, claim: Claim, error: ErrorBody): Promise<Task> {
    return this.execute(tx, 'failLoading', claim.taskId, { claim, error });
  }

  /** Row 6. */
  complete(tx: Tx, claim: Claim, result: JsonObject | null): Promise<Task> {
    return this.execute(tx, 'complete', claim.taskId, { claim, result });
  }

  /** Row 7: ended by an output limit. */
  completeIncomplete(tx: Tx, claim: Claim): Promise<Task> {
    return this.execute(tx, 'completeIncomplete', claim.taskId, { claim });
  }

  /** Row 8. */
  fail(tx: Tx, claim: Claim, error: ErrorBody): Promise<Task> {
    return this.execute(tx, 'fail', claim.taskId, { claim, error });
  }

  /** Row 9. */
  cancelQueued(tx: Tx, taskId: string): Promise<Task> {
    return this.execute(tx, 'cancelQueued', taskId, {});
  }

  /** Row 10: from now on the task can only become cancelled (R3). */
  requestCancel(tx: Tx, taskId: string): Promise<Task> {
    return this.execute(tx, 'requestCancel', taskId, {});
  }

  /** Row 11: the work has stopped; whatever it came to is dropped. A run names its claim. */
  confirmCancel(tx: Tx, taskId: string, claim?: Claim): Promise<Task> {
    return this.execute(tx, 'confirmCancel', taskId, { claim });
  }

  /** Row 12. */
  failQueued(tx: Tx, taskId: string, error: ErrorBody): Promise<Task> {
    return this.execute(tx, 'failQueued', taskId, { error });
  }

  /** Row 13. */
  failUnowned(tx: Tx, taskId: string, error: ErrorBody): Promise<Task> {
    return this.execute(tx, 'failUnowned', taskId, { error });
  }

  /** Row 15: what ran it died; it waits again, from empty output. */
  requeueLost(tx: Tx, claim: Claim, blame: Blame): Promise<Task> {
    return this.execute(tx, 'requeueLost', claim.taskId, { claim, ...blame });
  }

  /** Row 15: what ran it died; a resumable task stays running and waits for take-up. */
  interruptLost(tx: Tx, claim: Claim, blame: Blame): Promise<Task> {
    return this.execute(tx, 'interruptLost', claim.taskId, { claim, ...blame });
  }

  /** Row 15: what loaded it died; the load goes on with a new owner. */
  reloadLost(tx: Tx, claim: Claim, owner: string): Promise<Task> {
    return this.execute(tx, 'reloadLost', claim.taskId, { claim, newOwner: owner });
  }

  /** Row 16 (C2). */
  recoverFail(tx: Tx, taskId: string, error: ErrorBody): Promise<Task> {
    return this.execute(tx, 'recoverFail', taskId, { error });
  }

  /** Row 17; `interruptions` are added to those of the task. */
  recoverRetry(tx: Tx, taskId: string, interruptions = 0): Promise<Task> {
    return this.execute(tx, 'recoverRetry', taskId, { interruptions });
  }

  /** Row 17 for a snapshot that cannot be gone on from; a run that finds so late names its claim. */
  startOver(tx: Tx, taskId: string, reason: UnusableSnapshot, claim?: Claim): Promise<Task> {
    tx.afterCommit(() => this.notices.emit('task.snapshot_unusable', { task_id: taskId, reason }));
    return this.execute(tx, 'recoverRetry', taskId, { claim });
  }

  /** Row 18; `interruptions` as above. */
  recoverResume(tx: Tx, taskId: string, interruptions = 0): Promise<Task> {
    return this.execute(tx, 'recoverResume', taskId, { interruptions });
  }

  /** Row 19 (C3). */
  recoverCancel(tx: Tx, taskId: string): Promise<Task> {
    return this.execute(tx, 'recoverCancel', taskId, {});
  }

  /** Row 20. */
  takeUp(tx: Tx, taskId: string, owner: string): Promise<Task> {
    return this.execute(tx, 'takeUp', taskId, { newOwner: owner });
  }

  /** The last unit of a clean stop: the next start finds no interrupted owner to count (WIRE B6). */
  async releaseOwners(tx: Tx): Promise<void> {
    await tx.execute('UPDATE tasks SET owner = NULL WHERE owner IS NOT NULL');
  }

  /** Deletes a finished task with its events; the database refuses any other (R5). */
  async remove(tx: Tx, taskId: string): Promise<void> {
    await tx.execute('DELETE FROM tasks WHERE id = ?', [taskId]);
    tx.afterCommit(() => this.feed.nudge(taskId));
  }

  /** The one algorithm behind every row: guarded update, then the events with the numbers it took. */
  private async execute(tx: Tx, command: TaskCommand, taskId: string, change: StatusChange): Promise<Task> {
    const transition: Transition = TASK_TRANSITIONS[command];
    await this.journal.flushInto(tx, taskId);
    const now = Date.now();
    const after = await updateStatus(tx, transition, taskId, change, now);
    if (!after) throw await this.refusal(tx, command, taskId);
    const events = await this.events(tx, transition, after, change.error ?? null);
    await insertEvents(
      tx,
      events.map((event) => ({ taskId, ...event })),
      now,
    );
    if (isTerminal(after.status)) await this.keys.settle(tx, after);
    tx.afterCommit(() => {
      this.feed.publish(taskId, events);
      this.announce(command, after, now);
    });
    return after;
  }

  private async refusal(tx: Tx, command: TaskCommand, taskId: string): Promise<Error> {
    const [row] = await tx.query<{ status: TaskStatus }>('select status from tasks where id = ?', [taskId]);
    return row ? new TransitionRefused(command, taskId, row.status) : new TaskNotFound(taskId);
  }

  private async events(tx: Tx, transition: Transition, task: Task, error: ErrorBody | null): Promise<StoredEvent[]> {
    const first = task.lastSequenceNumber - transition.events.length + 1;
    const events: StoredEvent[] = [];
    for (const [i, type] of transition.events.entries()) {
      const sequenceNumber = first + i;
      const payload = type === 'error' ? errorPayload(error) : await this.view(tx, task, type, sequenceNumber);
      events.push({ sequenceNumber, type, payload: eventJson(type, sequenceNumber, payload) });
    }
    return events;
  }

  private view(tx: Tx, task: Task, event: LifecycleEvent, sequenceNumber: number): Promise<JsonObject> {
    return this.handlers.of(task.type).project(tx, { task, event, sequenceNumber });
  }

  private announce(command: TaskCommand, task: Task, now: number): void {
    const { from, events, raisesAttempt }: Transition = TASK_TRANSITIONS[command];
    this.notices.emit('task.transition', {
      task_id: task.id,
      type: task.type,
      model: task.model,
      background: task.background,
      on_restart: task.onRestart,
      command,
      from: from.length === 1 ? (from[0] ?? null) : null,
      to: task.status,
      attempt: task.attempt,
      events: events.length,
      waited_ms: raisesAttempt && task.attempt === 1 ? now - task.createdAt : null,
      duration_ms: task.finishedAt === null ? null : now - task.createdAt,
      error_code: task.error?.code ?? null,
    });
  }
}

/** The flat fields are OpenAI's, the nested object Open Responses' (WIRE B5). */
export function errorPayload(error: ErrorBody | null): JsonObject {
  if (!error) throw new Error('a failure needs its error');
  return { code: error.code, message: error.message, param: error.param, error };
}
