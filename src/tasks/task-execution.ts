import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { storageFault, UnitOfWork, type Tx } from '../database/index.js';
import { DomainError, type ErrorBody } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import type { ActiveRun } from './active-run.js';
import type { TaskOutcome, UnusableSnapshot } from './task-handlers.js';
import { TaskJournal } from './task-journal.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import type { Claim, Task } from './task.js';
import { JournalRefused, StaleClaim, TaskNotFound, TransitionRefused } from './tasks.errors.js';

type Settle = (tx: Tx) => Promise<Task>;

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1000;
/** Tries of an end that fails for a reason other than storage, before the run is given up to recovery. */
const TRIES = 3;

/** Carries one attempt from its claim to its end: load, run, normalise the outcome once, settle. */
@Injectable()
export class TaskExecution {
  /** Set by a stop: from then on no run changes a status; recovery decides at the next start (WIRE B6). */
  private fenced = false;

  constructor(
    private readonly units: UnitOfWork,
    private readonly lifecycle: TaskLifecycleService,
    private readonly journal: TaskJournal,
    private readonly notices: Notices,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  fence(): void {
    this.fenced = true;
  }

  /** Never rejects. False: the end could not be written, and the row is as it was. */
  async execute(run: ActiveRun): Promise<boolean> {
    let limit: NodeJS.Timeout | undefined;
    try {
      if (await this.loaded(run)) {
        limit = this.startTimeLimit(run);
        const outcome = await this.outcome(run);
        this.journal.keep(run.claim.taskId);
        await this.settle(run, (tx) => this.end(tx, run, outcome));
      }
      return true;
    } catch (error) {
      this.notices.emit('task.fault', { task_id: run.claim.taskId, error });
      return false;
    } finally {
      clearTimeout(limit);
      this.journal.forget(run.claim.taskId);
      run.claimed.seat.release();
    }
  }

  private startTimeLimit(run: ActiveRun): NodeJS.Timeout | undefined {
    const seconds = this.config.taskTimeoutSeconds;
    if (seconds === 0) return undefined;
    const error = new DomainError('task_timeout', `The task ran longer than ${seconds} seconds.`).toBody();
    return setTimeout(() => run.stop(error), Math.min(seconds * 1000, 2 ** 31 - 1)).unref();
  }

  /** True once the task runs: at once with a resident seat, else after the load (rows 4 and 5) or take-up (20 and 13). */
  private async loaded(run: ActiveRun): Promise<boolean> {
    const { seat, resumed } = run.claimed;
    if (run.running) return true;
    run.progress = { ...run.progress, phase: 'loading' };
    try {
      await abortable(seat.ready, run.abort.signal);
    } catch (error) {
      const body = run.verdict ?? loadFailure(error);
      await this.settle(run, (tx) =>
        resumed
          ? this.lifecycle.failUnowned(tx, run.claim.taskId, body)
          : this.lifecycle.failLoading(tx, run.claim, body),
      );
      return false;
    }
    const started = await this.settle(run, (tx) =>
      resumed ? this.takeUp(tx, run) : this.lifecycle.startLoaded(tx, run.claim),
    );
    if (started?.status !== 'running') return false;
    run.task = started;
    run.running = true;
    return true;
  }

  /** Row 20, or row 17 where the snapshot on disk cannot be gone on from; both look at it inside their own unit. */
  private async takeUp(tx: Tx, run: ActiveRun): Promise<Task> {
    const { task, seat, handler } = run.claimed;
    const reason = handler.takeUp ? await handler.takeUp(tx, task, seat) : 'unsupported';
    if (reason === null) return this.lifecycle.takeUp(tx, task.id, run.claim.owner);
    return this.startOver(tx, task.id, reason);
  }

  private startOver(tx: Tx, taskId: string, reason: UnusableSnapshot, claim?: Claim): Promise<Task> {
    tx.afterCommit(() => this.notices.emit('task.snapshot_unusable', { task_id: taskId, reason }));
    return this.lifecycle.recoverRetry(tx, taskId, 0, claim);
  }

  private async outcome(run: ActiveRun): Promise<TaskOutcome> {
    const { seat, handler, resumed } = run.claimed;
    const { task } = run;
    try {
      const work = handler.run({
        task,
        seat,
        resumed,
        signal: run.abort.signal,
        append: (step) => this.journal.append(run.claim, step),
        progress: (progress) => {
          run.progress = progress;
        },
      });
      const outcome = await withGrace(work, run.abort.signal, this.config.cancelGraceSeconds * 1000);
      if (outcome.kind === 'aborted' && !run.abort.signal.aborted) throw new Error('the handler gave up unasked');
      return outcome;
    } catch (error) {
      if (error instanceof StaleClaim) return { kind: 'aborted' };
      if (error instanceof JournalRefused) return { kind: 'failed', error: refusedBody(error) };
      if (error instanceof DomainError) return { kind: 'failed', error: error.toBody() };
      this.notices.emit('task.fault', { task_id: task.id, error });
      return { kind: 'failed', error: new DomainError('server_error', 'The task failed unexpectedly.').toBody() };
    }
  }

  /** Inside the unit that writes the end: steps refused until then leave an output that is not whole (row 8). */
  private end(tx: Tx, run: ActiveRun, outcome: TaskOutcome): Promise<Task> {
    const { claim } = run;
    const refusal = this.journal.refusalOf(claim.taskId);
    const verdict = run.verdict ?? (refusal && refusedBody(refusal));
    if (verdict) return this.lifecycle.fail(tx, claim, verdict);
    switch (outcome.kind) {
      case 'completed':
        return this.lifecycle.complete(tx, claim, outcome.result ?? null);
      case 'limited':
        return this.lifecycle.completeIncomplete(tx, claim);
      case 'failed':
        return this.lifecycle.fail(tx, claim, outcome.error);
      case 'lost':
        return this.lost(tx, run, outcome.message);
      case 'unusable':
        return this.startOver(tx, claim.taskId, outcome.reason, claim);
      case 'aborted':
        return this.lifecycle.confirmCancel(tx, claim.taskId, claim);
    }
  }

  /** Row 15: a task that may run again waits again, as long as it has not lost its runner too often. */
  private lost(tx: Tx, run: ActiveRun, message: string): Promise<Task> {
    const { task } = run;
    const again = task.background && task.onRestart !== 'fail' && task.interruptions + 1 < task.maxInterruptions;
    if (again) return this.lifecycle.requeueLost(tx, run.claim);
    return this.lifecycle.fail(tx, run.claim, new DomainError('model_error', message).toBody());
  }

  /**
   * Writes the end of a run. Finding the task cancelling, it becomes cancelled, whatever the run came to (R3, row 11);
   * finding it no longer this run's, nothing is written. Storage faults are waited out: the result stays in memory.
   */
  private async settle(run: ActiveRun, settle: Settle): Promise<Task | null> {
    let write = settle;
    let retryMs = FIRST_RETRY_MS;
    for (let tries = 1; !this.fenced;) {
      try {
        return await this.units.run(write);
      } catch (error) {
        if (error instanceof TaskNotFound) return null;
        if (error instanceof TransitionRefused) {
          if (error.status !== 'cancelling' || error.command === 'confirmCancel') return null;
          write = (tx) => this.lifecycle.confirmCancel(tx, run.claim.taskId, run.claim);
          continue;
        }
        const fault = storageFault(error);
        if (fault) this.notices.emit('storage.retry', { fault });
        else if (++tries > TRIES) throw error;
        else write = this.withoutSteps(run, error, write);
        await delay(retryMs);
        retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
      }
    }
    return null;
  }

  /** The end could not be written together with the waiting steps: those are refused, and the task fails (row 8). */
  private withoutSteps(run: ActiveRun, cause: unknown, write: Settle): Settle {
    if (!run.running) return write;
    const refusal = this.journal.refuse(run.claim.taskId, cause);
    return (tx) => this.lifecycle.fail(tx, run.claim, refusedBody(refusal));
  }
}

function refusedBody(refusal: JournalRefused): ErrorBody {
  return new DomainError(refusal.code, 'The output of the task could not be stored.').toBody();
}

function loadFailure(error: unknown): ErrorBody {
  if (error instanceof DomainError) return error.toBody();
  return new DomainError('model_load_failed', 'The model could not be loaded.').toBody();
}

/** Rejects as soon as the signal aborts; the work goes on for others. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error('aborted'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, aborted]);
}

/** After an abort the work has `graceMs` to end; then it is fenced off and counts as aborted. */
async function withGrace(work: Promise<TaskOutcome>, signal: AbortSignal, graceMs: number): Promise<TaskOutcome> {
  let timer: NodeJS.Timeout | undefined;
  const fencedOff = new Promise<TaskOutcome>((resolve) => {
    const start = (): void => {
      timer = setTimeout(() => resolve({ kind: 'aborted' }), graceMs);
    };
    if (signal.aborted) start();
    else signal.addEventListener('abort', start, { once: true });
  });
  try {
    return await Promise.race([work, fencedOff]);
  } finally {
    clearTimeout(timer);
  }
}
