import type { Tx } from '../../database/index.js';
import type { OnRestart } from '../task-transitions.js';
import type { JsonObject } from '../task.js';

/**
 * A kind of background work that an extension adds. Tasks of it are made by `POST /v1/tasks` `{type, input}` and are tasks
 * in every respect: durable before their 202, cancelled atomically, listed, followed by events, bounded by the queue's
 * limits, ended with their client, expired, counted.
 *
 * @typeParam Input the DTO of the request's `input`
 * @typeParam Cursor how far a task is, as JSON: what `run` needs to go on from there in another process
 */
export interface TaskType<Input extends object = object, Cursor = unknown> {
  /**
   * Its name on the wire, for good: words of `a-z0-9_` joined by dots, 64 characters at most (`summarise.document`).
   * `response`, `error`, `task` and `model` as first words are the service's own.
   */
  readonly type: string;
  /**
   * Class of the input with the decorators of class-validator. Unknown fields are dropped; a wrong one is refused as
   * `input.<field>` before the task is made. It is checked again before each run, since the class may have changed by then.
   */
  readonly input: new () => Input;
  /**
   * What becomes of an unfinished task at a restart, unless its request says otherwise. `fail` (the default) is right
   * unless to run it twice is harmless; `retry` starts anew from nothing; `resume` goes on from the last cursor.
   */
  readonly onRestart?: OnRestart;
  /** Tasks of the type that run at a time, 1..64; 1 by default. The others wait, the clients taking turns. */
  readonly concurrency?: number;
  /** Longest run of one attempt in seconds; 0: none. LMSP_TASK_TIMEOUT_SECONDS by default. */
  readonly timeLimitSeconds?: number;
  /**
   * Does the work, from `run.cursor` on. Resolves with the result as the task object shows it (JSON, at most
   * LMSP_MAX_TASK_STEP_BYTES), or null. A DomainError fails the task with its code and message; any other error is
   * logged and fails it with `server_error`.
   *
   * Once `run.signal` aborts it has LMSP_CANCEL_GRACE_SECONDS to end; what it comes to is dropped then, and later saves
   * are refused. It must not throw away what `save` rejects with.
   */
  run(run: TypedTaskRun<Input, Cursor>): Promise<JsonObject | null>;
}

/** An event of a task's own. It appears as `<type>.<word>` on /v1/tasks/{id}/events. */
export interface TaskTypeEvent {
  /** `a-z0-9_`, e.g. `progress`. */
  readonly word: string;
  /** JSON; `type` and `sequence_number` are added. */
  readonly payload: JsonObject;
}

/** How far a run is, as the task object shows it while it runs. Kept nowhere: cheap to tell often. */
export interface TaskTypeProgress {
  /** What is being done, in a word or two. */
  readonly phase: string;
  /** Part of the whole that is done, 0..1; absent: unknown. */
  readonly fraction?: number | null;
  /** Tokens that models have written for it so far. */
  readonly outputTokens?: number;
}

/** One attempt at a task: what `run` gets. */
export interface TypedTaskRun<Input extends object = object, Cursor = unknown> {
  readonly taskId: string;
  /** Whose task it is. */
  readonly clientId: string;
  /** 1 for the first run, then one more for each claim and take-up. */
  readonly attempt: number;
  readonly input: Input;
  readonly metadata: Readonly<Record<string, string>>;
  /** Aborts on cancel, at the time limit, when the client is revoked, and when the service stops. */
  readonly signal: AbortSignal;
  /**
   * The last cursor on disk: of an earlier attempt when the run begins (policy `resume`), later of its own last save. Null
   * where nothing was saved since the task began, or began anew.
   */
  readonly cursor: Cursor | null;
  /**
   * Names the step in progress, for effects outside of this service (an Idempotency-Key, a file name): the same in every
   * attempt that comes to the step, another once a new cursor is saved. ASCII, at most 80 characters.
   */
  readonly effectKey: string;
  /**
   * Ends a step: cursor and events are on disk in one transaction when it resolves, and no step whose cursor is there is
   * done again by a resume. Together at most LMSP_MAX_TASK_STEP_BYTES of JSON. Saves are written in the order of the calls.
   *
   * @param write writes rows of the extension's own tables in that transaction: database calls with this `tx` only, each
   * awaited. It may be called again where the transaction is rolled back; nothing of an earlier call is left then. The
   * transaction may hold steps of other tasks, and the service writes nothing else meanwhile: keep it short. What it
   * throws undoes the save.
   *
   * Rejects when the step is not stored: cancelled or no longer this run's, what `write` threw, a disk that stayed full.
   * Then no later save of the run is stored either, and the task ends, whatever `run` makes of it.
   */
  save(cursor: Cursor, events?: readonly TaskTypeEvent[], write?: (tx: Tx) => Promise<void>): Promise<void>;
  progress(progress: TaskTypeProgress): void;
}
