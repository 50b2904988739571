import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import type { Tx } from '../database/index.js';
import type { DomainError, ErrorBody } from '../errors/index.js';
import type { JsonObject, Task } from './task.js';
import type { LifecycleEvent, OnRestart } from './task-transitions.js';
import { taskPayload } from './task-view.js';
import { TaskTypeTaken } from './tasks.errors.js';

/** An event before it has a number. `type` and `sequence_number` are added when it is written. */
export interface EventDraft {
  type: string;
  payload: JsonObject;
}

/**
 * The unit of journaling (WIRE B5 invariant 8): all events one token (or one cursor move) causes, and the line of the
 * snapshot that lets a later attempt go on from it. One step is written whole or not at all.
 */
export interface TaskStep {
  events: EventDraft[];
  /** One line without a line break, opaque to this module; null: nothing to remember. */
  snapshot: string | null;
  /** More steps follow at once: this one may wait LMSP_STEP_GATHER_MS to share its commit with them. */
  gathers?: boolean;
}

/** Rows that are written together with a step. */
export type StepWrite = (tx: Tx) => Promise<void>;

/** A place to run: held from before the claim until the run has ended. */
export interface Seat {
  /** Incarnation of what runs the task; fences its writes together with the attempt. Until `ready` it may change. */
  readonly owner: string;
  /** False: the task is claimed as `loading` and runs once `ready` resolves. */
  readonly resident: boolean;
  /** Rejects with the DomainError that fails the waiting task (row 5). */
  readonly ready: Promise<void>;
  /** Part of what is waited for that is done, 0..1; absent: unknown. */
  readonly loadFraction?: number;
  release(): void;
}

/** Live figures of a run; not logged (WIRE B4). */
export interface TaskProgress {
  phase: string;
  load_fraction: number | null;
  prompt_tokens: number | null;
  output_tokens: number;
}

/** Why a snapshot cannot be gone on from. A closed set: it is a label of a metric. */
export const UNUSABLE_SNAPSHOTS = ['unsupported', 'digest', 'fingerprint', 'exactness', 'format', 'output'] as const;
export type UnusableSnapshot = (typeof UNUSABLE_SNAPSHOTS)[number];

/** How a handler's run ended. A run that was aborted may answer anything: the status on disk decides. */
export type TaskOutcome =
  | { kind: 'completed'; result?: JsonObject }
  /** Ended by an output limit: the task is completed, the response incomplete (row 7). */
  | { kind: 'limited' }
  | { kind: 'failed'; error: ErrorBody }
  /** Aborted by the signal before an end of its own. */
  | { kind: 'aborted' }
  /** Resumed, and the snapshot turned out to be of no use before any new step: a new start from nothing (row 17). */
  | { kind: 'unusable'; reason: UnusableSnapshot }
  /** What ran it died while the service lives (row 15). */
  | {
      kind: 'lost';
      message: string;
      /** Nothing else ran there: only then the task is to blame (WIRE B6). */
      alone: boolean;
    };

/** What a handler gets for one attempt. */
export interface TaskRun<S extends Seat = Seat> {
  readonly task: Task;
  readonly seat: S;
  /** True: goes on from the snapshot of the present start; false: begins with empty output. */
  readonly resumed: boolean;
  /**
   * Set for a task whose runner was lost: it runs beside nothing else of its lane until this resolves, after its 8th
   * step (WIRE B6, suspect). Null: nothing is held against it.
   */
  readonly proven: Promise<void> | null;
  /** Aborts on cancel, on loss of the claim and when the service stops. */
  readonly signal: AbortSignal;
  /**
   * Resolves once the step is on disk; rejects with StaleClaim when the task is no longer this run's. `write` writes rows
   * of other tables in the same transaction: database calls only, each awaited. It may be called again when that is rolled
   * back; what it throws refuses the step, and with it all later ones.
   */
  append(step: TaskStep, write?: StepWrite): Promise<void>;
  progress(progress: TaskProgress): void;
}

/** A change of status that is being written. */
export interface TaskChange {
  /** The row after the change. */
  task: Task;
  event: LifecycleEvent;
  /** Number that the lifecycle event gets. */
  sequenceNumber: number;
}

/** All that the service needs to know about one task type. Registered by the module that owns the type. */
export interface TaskHandler<S extends Seat = Seat> {
  readonly type: string;
  /** Policy of a task that names none. */
  readonly defaultOnRestart: OnRestart;
  /** The route that makes its tasks, as `POST /v1/responses`; absent: POST /v1/tasks. */
  readonly createdBy?: string;
  /** Longest run, in the place of LMSP_TASK_TIMEOUT_SECONDS; 0: none. */
  readonly timeLimitSeconds?: number;
  /**
   * A free place in the lane, or null: call TaskRunner.wake(type, model) when there may be one. An error: the lane is
   * closed; foreground tasks that wait in it fail with it, others wait. Synchronous.
   */
  seat(model: string | null): S | DomainError | null;
  run(run: TaskRun<S>): Promise<TaskOutcome>;
  /** Why tasks of the lane wait, as a word for `progress.phase`; null or absent: only for their turn. */
  waitPhase?(model: string | null): string | null;
  /**
   * Says whether the snapshot on disk can be gone on from in this seat, which is ready; null: it can. Runs inside the
   * unit of row 20 (of row 17 otherwise) with the row as it was before: database calls only. A type without it takes
   * no snapshot up.
   */
  takeUp?(tx: Tx, task: Task, seat: S): Promise<UnusableSnapshot | null>;
  /**
   * The payloads of lifecycle events (without type and number) as JSON, e.g. of `{ response }`: one for each change, in
   * order; no two are of one task, and they may be of several kinds. Runs inside the transitions' unit: database calls only. Whatever the type stores about its
   * tasks it updates here, so that the snapshot and the stored object are one (invariant 3). Absent: `{ task }`.
   */
  project?(tx: Tx, changes: TaskChange[]): Promise<string[]>;
}

/** Who has a task type when it is not an extension. */
const THE_SERVICE = 'the service itself';

/** The handlers by task type. */
@Injectable()
export class TaskHandlers {
  private readonly byType = new Map<string, { owner: string; handler: TaskHandler }>();

  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'retentionTasksSeconds'>) {}

  /** Throws TaskTypeTaken: two modules must not claim one type (HOUSE 3.4). */
  register(handler: TaskHandler, owner = THE_SERVICE): void {
    const taken = this.byType.get(handler.type);
    if (taken) throw new TaskTypeTaken(handler.type, taken.owner, owner);
    this.byType.set(handler.type, { owner, handler });
  }

  /** Null: the type is none of this process. Its tasks may be of an extension that is no longer there. */
  find(type: string): TaskHandler | null {
    return this.byType.get(type)?.handler ?? null;
  }

  /** As `find`, for a type that has one: its tasks are being made or run. */
  of(type: string): TaskHandler {
    const handler = this.find(type);
    if (!handler) throw new Error(`no handler is registered for task type "${type}"`);
    return handler;
  }

  /** The payloads of lifecycle events of one type (TaskHandler.project); of a type that is none of this process as well. */
  async payloads(tx: Tx, type: string, changes: TaskChange[]): Promise<string[]> {
    const handler = this.find(type);
    if (handler?.project) return handler.project(tx, changes);
    return changes.map(({ task }) => JSON.stringify(taskPayload(task, this.config)));
  }

  /** As `waitPhase` of the type's handler; null where there is none. */
  waitPhase(type: string, model: string | null): string | null {
    return this.find(type)?.waitPhase?.(model) ?? null;
  }

  types(): string[] {
    return [...this.byType.keys()];
  }
}
