import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/index.js';
import { DomainError, type ErrorBody } from '../errors/index.js';
import type { ActiveRun } from './active-run.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import { TaskSettlement } from './task-settlement.js';
import type { Task, TaskRow } from './task.js';
import { TaskNotFound, TransitionRefused } from './tasks.errors.js';

/** The way of an attempt from its claim to its work: the load of what runs it, then row 4 or 20. */
@Injectable()
export class TaskStart {
  constructor(
    private readonly settlement: TaskSettlement,
    private readonly lifecycle: TaskLifecycleService,
  ) {}

  /** True once the task runs: at once with a resident seat, else after the load (rows 4 and 5) or take-up (20 and 13). */
  async running(run: ActiveRun): Promise<boolean> {
    const { seat } = run.claimed;
    if (run.running) return true;
    run.progress = { ...run.progress, phase: 'loading' };
    try {
      await abortable(seat.ready, run.abort.signal);
    } catch (error) {
      const body = run.verdict ?? loadFailure(error);
      await this.settlement.settle(run, (tx) => this.failed(tx, run, body));
      return false;
    }
    const started = await this.settlement.settle(run, (tx) => this.started(tx, run));
    if (started?.status !== 'running') return false;
    run.task = started;
    run.running = true;
    return true;
  }

  /** A run that is being taken up has no row of its own yet. */
  private failed(tx: Tx, run: ActiveRun, error: ErrorBody): Promise<Task> {
    if (run.claimed.resumed) return this.lifecycle.failUnowned(tx, run.claim.taskId, error);
    return this.lifecycle.failLoading(tx, run.claim, error);
  }

  private async started(tx: Tx, run: ActiveRun): Promise<Task> {
    const { seat, resumed } = run.claimed;
    if (resumed) return this.takenUp(tx, run, seat.owner);
    if (seat.owner !== run.claim.owner) {
      // What loaded it died, and another goes on (row 15).
      const reloaded = await this.lifecycle.reloadLost(tx, run.claim, seat.owner);
      if (reloaded.status !== 'loading') return reloaded;
      tx.afterCommit(() => run.owned(seat.owner));
    }
    return this.lifecycle.startLoaded(tx, { ...run.claim, owner: seat.owner });
  }

  /** Row 20, or row 17 where the snapshot on disk cannot be gone on from; both look at it inside their own unit. */
  private async takenUp(tx: Tx, run: ActiveRun, owner: string): Promise<Task> {
    const { task, seat, handler } = run.claimed;
    await stillWaits(tx, task.id);
    const reason = handler.takeUp ? await handler.takeUp(tx, task, seat) : 'unsupported';
    if (reason !== null) return this.lifecycle.startOver(tx, task.id, reason);
    tx.afterCommit(() => run.owned(owner));
    return this.lifecycle.takeUp(tx, task.id, owner);
  }
}

/** Cancelled while the model was loading, it has ended, and what a handler would look at may be gone. */
async function stillWaits(tx: Tx, taskId: string): Promise<void> {
  const [row] = await tx.query<Pick<TaskRow, 'status' | 'owner'>>('select status, owner from tasks where id = ?', [
    taskId,
  ]);
  if (!row) throw new TaskNotFound(taskId);
  if (row.status !== 'running' || row.owner !== null) throw new TransitionRefused('takeUp', taskId, row.status);
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
