import type { Tx } from '../../src/database/index.js';
import type { DomainError } from '../../src/errors/index.js';
import type {
  Seat,
  TaskChange,
  TaskHandler,
  TaskOutcome,
  TaskRun,
  UnusableSnapshot,
} from '../../src/tasks/task-handlers.js';
import type { Task } from '../../src/tasks/task.js';

/** A scripted task type: seats are handed out up to `seats`, and each run does what `script` says. */
export class ScriptedHandler implements TaskHandler {
  readonly type = 'scripted';
  readonly defaultOnRestart = 'retry';
  seats = 8;
  taken = 0;
  /** Set: no seat is given, for this reason. */
  closed: DomainError | null = null;
  resident = true;
  ready: Promise<void> = Promise.resolve();
  owner = 'run_1';
  script: (run: TaskRun) => Promise<TaskOutcome> = () => Promise.resolve({ kind: 'completed' });
  /** What a look at the snapshot comes to; called in the unit of row 20. */
  takeUp = (_tx: Tx, _task: Task, _seat: Seat): Promise<UnusableSnapshot | null> => Promise.resolve(null);
  /** Called in the unit of every lifecycle event; may throw. */
  onProject: (change: TaskChange) => void = () => undefined;
  freed: () => void = () => undefined;

  /** What loads has died, and another goes on. */
  respawn(owner: string): void {
    this.owner = owner;
  }

  seat(): Seat | DomainError | null {
    if (this.closed) return this.closed;
    if (this.taken >= this.seats) return null;
    this.taken += 1;
    let held = true;
    const owner = (): string => this.owner;
    return {
      get owner() {
        return owner();
      },
      resident: this.resident,
      ready: this.ready,
      release: () => {
        if (held) this.taken -= 1;
        held = false;
        this.freed();
      },
    };
  }

  run(run: TaskRun): Promise<TaskOutcome> {
    return this.script(run);
  }

  async project(_tx: Tx, changes: TaskChange[]): Promise<string[]> {
    return changes.map((change) => {
      this.onProject(change);
      return JSON.stringify({ task: { id: change.task.id, status: change.task.status } });
    });
  }
}
