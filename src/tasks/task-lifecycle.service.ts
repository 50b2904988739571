import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/index.js';
import type { DomainError, ErrorBody } from '../errors/index.js';
import { recorderFailed, TaskHooks, type StatusesBefore } from './hooks/task-hooks.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { appendLifecycleEvents, type MovedTasks } from './lifecycle-events.js';
import { insertFirstEvents } from './step-writer.js';
import { insertTasks, type TaskDraft } from './task-drafts.js';
import { TaskHandlers, type UnusableSnapshot } from './task-handlers.js';
import { TaskJournal } from './task-journal.js';
import { TaskNews } from './task-news.js';
import { isTerminal, TASK_TRANSITIONS, type TaskCommand, type TaskStatus } from './task-transitions.js';
import type { Claim, JsonObject, Suspicion, Task } from './task.js';
import { TaskNotFound, TransitionRefused } from './tasks.errors.js';
import { updateStatus, type StatusChange } from './status-update.js';

/** What the loss of its runner means for a task: an interruption or none, and what is held against it. */
export interface Blame {
  interruptions: 0 | 1;
  suspicion: Suspicion;
}

/** Tasks that move alike. */
interface Move extends StatusChange {
  command: TaskCommand;
  taskIds: string[];
}

/** What recovery does with tasks that it found alike. `interruptions` are added to those of each. */
export interface RecoveryMove extends Pick<StatusChange, 'error' | 'interruptions'> {
  command: 'recoverFail' | 'recoverRetry' | 'recoverResume' | 'recoverCancel' | 'failQueued' | 'failUnowned';
  taskIds: string[];
}

interface MadeMove extends MovedTasks {
  before: StatusesBefore;
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

  /** Rows 16 to 19 (C2, C3), and what recovery gives up (rows 12 and 13): many tasks, each of its own kind, at once. */
  recover(tx: Tx, moves: RecoveryMove[]): Promise<Task[]> {
    return this.executeAll(tx, moves);
  }

  /** Row 17 for a snapshot that cannot be gone on from; a run that finds so late names its claim. */
  startOver(tx: Tx, taskId: string, reason: UnusableSnapshot, claim?: Claim): Promise<Task> {
    tx.afterCommit(() => this.news.unusable(taskId, reason));
    return this.execute(tx, 'recoverRetry', taskId, { claim });
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
    const [task] = await this.executeAll(tx, [{ ...change, command, taskIds: [taskId] }]);
    if (!task) throw new TaskNotFound(taskId);
    return task;
  }

  /**
   * The one algorithm behind every row, for tasks that move together: guarded update, then the events with the numbers it
   * took. All or none: throws for the first that cannot move, and the unit must not be committed then. No two moves name
   * one task. A statement more for each kind of move, and else as many as for one task.
   */
  private async executeAll(tx: Tx, moves: Move[]): Promise<Task[]> {
    await this.journal.flushInto(tx, new Set(moves.flatMap(({ taskIds }) => taskIds)));
    const now = Date.now();
    const made: MadeMove[] = [];
    for (const move of moves) if (move.taskIds.length > 0) made.push(await this.move(tx, move, now));
    const logs = await appendLifecycleEvents(tx, this.handlers, made, now);
    const ended = made.filter(({ command }) => isTerminal(TASK_TRANSITIONS[command].to));
    if (ended.length > 0) await this.keys.settle(tx, allOf(ended), now);
    for (const { command, tasks, before } of made) await this.hooks.made(tx, command, tasks, before, now);
    tx.afterCommit(() => made.forEach(({ command, tasks }) => this.news.made(command, tasks, logs, now)));
    return allOf(made);
  }

  private async move(tx: Tx, { command, taskIds, ...change }: Move, now: number): Promise<MadeMove> {
    const before = await this.hooks.before(tx, command, taskIds);
    const tasks = await updateStatus(tx, TASK_TRANSITIONS[command], taskIds, change, now);
    const refused = taskIds.find((taskId, i) => tasks[i]?.id !== taskId);
    if (refused !== undefined) throw await this.refusal(tx, command, refused);
    return { command, tasks, before, error: change.error ?? null };
  }

  private async refusal(tx: Tx, command: TaskCommand, taskId: string): Promise<Error> {
    const [row] = await tx.query<{ status: TaskStatus }>('select status from tasks where id = ?', [taskId]);
    return row ? new TransitionRefused(command, taskId, row.status) : new TaskNotFound(taskId);
  }
}

function allOf(made: MadeMove[]): Task[] {
  return made.flatMap(({ tasks }) => tasks);
}

function viewOf({ view }: TaskDraft, task: Task | undefined): string {
  if (typeof view === 'string') return view;
  if (!task) throw new Error('a draft has no row');
  return JSON.stringify(view(task));
}
