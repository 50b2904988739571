import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { storageFault, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import type { ActiveRun } from './active-run.js';
import { TaskUnits } from './hooks/task-units.js';
import { TaskJournal } from './task-journal.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import type { Task } from './task.js';
import { TaskNotFound, TransitionRefused } from './tasks.errors.js';

type Settle = (tx: Tx) => Promise<Task>;

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1000;
/** Tries of a write that fails for a reason other than storage, before the run is given up to the sweep. */
const TRIES = 3;

/** Writes what a run has come to, whatever the disk and other writers do meanwhile. */
@Injectable()
export class TaskSettlement {
  /** Set by a stop: from then on no run changes a status; recovery decides at the next start (WIRE B6). */
  private fenced = false;

  constructor(
    private readonly units: TaskUnits,
    private readonly lifecycle: TaskLifecycleService,
    private readonly journal: TaskJournal,
    private readonly notices: Notices,
  ) {}

  fence(): void {
    this.fenced = true;
  }

  /**
   * Writes the end of a run. Finding the task cancelling, it becomes cancelled, whatever the run came to (R3, row 11);
   * finding it no longer this run's, nothing is written. A handler that refuses the end with a DomainError makes the task
   * fail with it (row 8). Storage faults are waited out: the result stays in memory.
   */
  async settle(run: ActiveRun, settle: Settle): Promise<Task | null> {
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
        else write = this.failure(run, error, write);
        await delay(retryMs);
        retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
      }
    }
    return null;
  }

  /**
   * What the task fails with (row 8): the words of a handler that refused its end; else the end could not be written
   * together with the waiting steps, and those are refused.
   */
  private failure(run: ActiveRun, cause: unknown, write: Settle): Settle {
    if (!run.running) return write;
    const refusal = cause instanceof DomainError ? cause : this.journal.refuse(run.claim.taskId, cause);
    return (tx) => this.lifecycle.fail(tx, run.claim, refusal.toBody());
  }
}
