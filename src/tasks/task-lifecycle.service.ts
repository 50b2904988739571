import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/index.js';
import type { DomainError, ErrorBody } from '../errors/index.js';
import { recorderFailed, TaskHooks } from './hooks/task-hooks.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { insertEvents, insertFirstEvents } from './step-writer.js';
import { insertTasks, type TaskDraft } from './task-drafts.js';
import { TaskHandlers, type TaskChange, type UnusableSnapshot } from './task-handlers.js';
import { TaskJournal } from './task-journal.js';
import { TaskNews } from './task-news.js';
import { eventJson, type StoredEvent } from './task-log.js';
import {
  isTerminal,
  TASK_TRANSITIONS,
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
    private readonly keys: IdempotencyKeys,
    private readonly hooks: TaskHooks,
    private readonly news: TaskNews,
  ) {}

  /**
   * Row 1, for many tasks at once: each is on disk as `queued` with its events 0 and 1, and with its idempotency key,
   * when the unit commits (R1). Throws the refusal of the first that `refusalOf` speaks of.
   */
  async enqueue(tx: Tx, drafts: TaskDraft[]): Promise<Task[]> {
    for (const { id } of drafts) {
      const refusal = this.refusalOf(tx, id);
      if (refusal) throw refusal;
    }
    const now = Date.now();
    const tasks = await insertTasks(tx, drafts, now);
    const first = drafts.map((draft, at) => ({ taskId: draft.id, payload: viewOf(draft, tasks[at]) }));
    await insertFirstEvents(tx, first, TASK_TRANSITIONS.enqueue.events, now);
    await this.keys.bind(tx, drafts, now);
    await this.hooks.made(tx, 'enqueue', tasks, null, now);
    tx.afterCommit(() => this.news.made('enqueue', tasks, new Map(), now));
    return tasks;
  }

  /**
   * Why no task of this id may be made in this unit: what an extension writes with it has failed again and again. For
   * whoever accepts many at once, so that one takes no other with it. Null: nothing is held against it.
   */
  refusalOf(tx: Tx, taskId: string): DomainError | null {
    return this.hooks.refusalOf(tx, taskId);
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

  /** Row 16 (C2), for many tasks at once, as the recovery rows below. */
  recoverFail(tx: Tx, taskIds: string[], error: ErrorBody): Promise<Task[]> {
    return this.executeAll(tx, 'recoverFail', taskIds, { error });
  }

  /** Row 17; `interruptions` are added to those of each task. */
  recoverRetry(tx: Tx, taskIds: string[], interruptions = 0): Promise<Task[]> {
    return this.executeAll(tx, 'recoverRetry', taskIds, { interruptions });
  }

  /** Row 17 for a snapshot that cannot be gone on from; a run that finds so late names its claim. */
  startOver(tx: Tx, taskId: string, reason: UnusableSnapshot, claim?: Claim): Promise<Task> {
    tx.afterCommit(() => this.news.unusable(taskId, reason));
    return this.execute(tx, 'recoverRetry', taskId, { claim });
  }

  /** Row 18; `interruptions` as above. */
  recoverResume(tx: Tx, taskIds: string[], interruptions = 0): Promise<Task[]> {
    return this.executeAll(tx, 'recoverResume', taskIds, { interruptions });
  }

  /** Row 19 (C3). */
  recoverCancel(tx: Tx, taskIds: string[]): Promise<Task[]> {
    return this.executeAll(tx, 'recoverCancel', taskIds, {});
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
    tx.afterCommit(() => this.news.removed(taskId));
  }

  /** Where the change cannot be recorded, the task comes back failed: whoever goes on with it looks at its status. */
  private async execute(tx: Tx, command: TaskCommand, taskId: string, change: StatusChange): Promise<Task> {
    const inPlace = this.hooks.inPlaceOf(tx, command, taskId);
    if (inPlace !== null) return this.execute(tx, inPlace, taskId, { claim: change.claim, error: recorderFailed() });
    const [task] = await this.executeAll(tx, command, [taskId], change);
    if (!task) throw new TaskNotFound(taskId);
    return task;
  }

  /**
   * The one algorithm behind every row, for tasks that move alike: guarded update, then the events with the numbers it
   * took. All or none: throws for the first that cannot move, and the unit must not be committed then.
   */
  private async executeAll(tx: Tx, command: TaskCommand, taskIds: string[], change: StatusChange): Promise<Task[]> {
    if (taskIds.length === 0) return [];
    const transition: Transition = TASK_TRANSITIONS[command];
    for (const taskId of taskIds) await this.journal.flushInto(tx, taskId);
    const now = Date.now();
    const before = await this.hooks.before(tx, command, taskIds);
    const moved = await updateStatus(tx, transition, taskIds, change, now);
    const refused = taskIds.find((taskId, i) => moved[i]?.id !== taskId);
    if (refused !== undefined) throw await this.refusal(tx, command, refused);
    const logs = await this.events(tx, transition, moved, change.error ?? null);
    await insertEvents(
      tx,
      [...logs].flatMap(([taskId, events]) => events.map((event) => ({ taskId, ...event }))),
      now,
    );
    if (isTerminal(transition.to)) await this.keys.settle(tx, moved, now);
    await this.hooks.made(tx, command, moved, before, now);
    tx.afterCommit(() => this.news.made(command, moved, logs, now));
    return moved;
  }

  private async refusal(tx: Tx, command: TaskCommand, taskId: string): Promise<Error> {
    const [row] = await tx.query<{ status: TaskStatus }>('select status from tasks where id = ?', [taskId]);
    return row ? new TransitionRefused(command, taskId, row.status) : new TaskNotFound(taskId);
  }

  /** The transition's events of each task, by its id. */
  private async events(
    tx: Tx,
    transition: Transition,
    tasks: Task[],
    error: ErrorBody | null,
  ): Promise<Map<string, StoredEvent[]>> {
    const logs = new Map<string, StoredEvent[]>(tasks.map(({ id }) => [id, []]));
    for (const [i, type] of transition.events.entries()) {
      const numberOf = (task: Task): number => task.lastSequenceNumber - transition.events.length + 1 + i;
      const views =
        type === 'error'
          ? null
          : await this.views(
              tx,
              tasks.map((task) => ({ task, event: type, sequenceNumber: numberOf(task) })),
            );
      for (const task of tasks) {
        const sequenceNumber = numberOf(task);
        const payload = views ? (views.get(task.id) ?? {}) : errorPayload(error);
        logs.get(task.id)?.push({ sequenceNumber, type, payload: eventJson(type, sequenceNumber, payload) });
      }
    }
    return logs;
  }

  /** The payload of each change, by the id of its task. */
  private async views(tx: Tx, changes: TaskChange[]): Promise<Map<string, JsonObject>> {
    const views = new Map<string, JsonObject>();
    for (const type of new Set(changes.map(({ task }) => task.type))) {
      const ofType = changes.filter(({ task }) => task.type === type);
      const payloads = await this.handlers.payloads(tx, type, ofType);
      for (const [i, { task }] of ofType.entries()) views.set(task.id, payloads[i] ?? {});
    }
    return views;
  }
}

function viewOf({ view }: TaskDraft, task: Task | undefined): JsonObject {
  if (typeof view !== 'function') return view;
  if (!task) throw new Error('a draft has no row');
  return view(task);
}

/** The flat fields are OpenAI's, the nested object Open Responses' (WIRE B5). */
export function errorPayload(error: ErrorBody | null): JsonObject {
  if (!error) throw new Error('a failure needs its error');
  return { code: error.code, message: error.message, param: error.param, error };
}
