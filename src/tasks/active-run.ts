import type { ErrorBody } from '../errors/index.js';
import type { ClaimedTask } from './task-claims.js';
import type { TaskProgress } from './task-handlers.js';
import type { Claim, Task } from './task.js';

/** One attempt that this process is working on. */
export class ActiveRun {
  claim: Claim;
  readonly abort = new AbortController();
  progress: TaskProgress = { phase: 'claimed', load_fraction: null, prompt_tokens: null, output_tokens: 0 };
  /** Decided from outside (time limit, end of the stop grace): how the run ends once it has stopped. */
  verdict: ErrorBody | null = null;
  /** False while the task is loading, or waits to be taken up. */
  running: boolean;
  /** The row as this run's last transition left it. */
  task: Task;
  /** Steps the work has made in this attempt. */
  steps = 0;
  /** Resolves when nothing is held against the task any more (Suspicion); `prove` says so. */
  readonly proven: Promise<void>;
  readonly prove: () => void;
  /** Nothing else of its lane may run beside it. */
  isSuspect: boolean;
  /** Resolves when the run has ended and its seat is free, or its claim was rolled back. */
  readonly finished: Promise<void>;
  /** Says so. */
  readonly finish: () => void;

  constructor(readonly claimed: ClaimedTask) {
    const { task, seat, resumed } = claimed;
    this.task = task;
    this.running = task.status === 'running' && !resumed;
    this.isSuspect = task.suspicion > 0;
    let prove = (): void => undefined;
    this.proven = new Promise((resolve) => (prove = resolve));
    this.prove = () => {
      this.isSuspect = false;
      prove();
    };
    let finish = (): void => undefined;
    this.finished = new Promise((resolve) => (finish = resolve));
    this.finish = finish;
    // The attempt that row 20 will give it: until then a cancel finds no run of the task's attempt.
    const attempt = resumed ? task.attempt + 1 : task.attempt;
    this.claim = { taskId: task.id, attempt, owner: seat.owner, resumed };
  }

  /** What runs it has the owner's name from now on. */
  owned(owner: string): void {
    this.claim = { ...this.claim, owner };
  }

  /** Stops the work; the end is written as the status on disk asks, or as the verdict says. */
  stop(verdict: ErrorBody | null = null): void {
    this.verdict ??= verdict;
    this.abort.abort();
  }
}

/** The attempts of this process by task id. */
export class ActiveRuns {
  private readonly runs = new Map<string, ActiveRun>();

  add(run: ActiveRun): void {
    this.runs.set(run.claim.taskId, run);
  }

  /** Takes the run out, unless a later attempt has its place by now, and finishes it. */
  remove(run: ActiveRun): void {
    if (this.runs.get(run.claim.taskId) === run) this.runs.delete(run.claim.taskId);
    run.finish();
  }

  of(taskId: string): ActiveRun | null {
    return this.runs.get(taskId) ?? null;
  }

  all(): ActiveRun[] {
    return [...this.runs.values()];
  }
}
