import type { Tx } from '../../database/index.js';
import type { TaskTransition } from './task-transition.js';

/**
 * Writes rows of its own in the transaction of a transition: either both are on disk or neither is. What must not be lost
 * when the process dies (an audit row, the outbox of a webhook) is written here.
 */
export interface TaskRecorder {
  /**
   * Called for every transition of every task, in order, after the task's row and events are written. Database calls with
   * this `tx` only, each awaited: no network, no file, no timer, no other unit; `tx` is dead once the unit has ended.
   * Writes to tables of its own only. May be called again for the same change when the unit is rolled back for any reason:
   * nothing of an earlier call is left then.
   *
   * It has no veto. If it throws, the unit is rolled back and tried again, three times in all; then an end, a cancel or
   * what recovery does is written without it, a create is refused (500 server_error), and any other change is replaced by
   * the task's failure with `recorder_failed`. Each is a `recorder.failed` notice and counted. A locked or full disk is
   * never its fault and is waited out. One that does not return holds up every write of the service until
   * LMSP_UNIT_TIMEOUT_SECONDS have passed, and counts as having failed then.
   */
  record(tx: Tx, transition: TaskTransition): Promise<void>;
}

export interface RegisteredRecorder {
  readonly owner: string;
  readonly recorder: TaskRecorder;
}

/** The recorders, in the order of their registration. */
export class TaskRecorders {
  private readonly registered: RegisteredRecorder[] = [];

  /**
   * @param owner name of the extension, as notices of its failures have it. It may have several recorders.
   * Call it before the service lets work in (`onModuleInit` of a module is early enough): recovery is recorded, too.
   */
  register(owner: string, recorder: TaskRecorder): void {
    this.registered.push({ owner, recorder });
  }

  get isEmpty(): boolean {
    return this.registered.length === 0;
  }

  all(): readonly RegisteredRecorder[] {
    return this.registered;
  }
}
