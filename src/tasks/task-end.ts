import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/index.js';
import type { ActiveRun } from './active-run.js';
import { RunnerLoss } from './runner-loss.js';
import type { TaskOutcome } from './task-handlers.js';
import { TaskJournal } from './task-journal.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import { TaskSettlement } from './task-settlement.js';
import type { Task } from './task.js';

/** Writes the end of a run: what it came to, once and for all, with its last steps. */
@Injectable()
export class TaskEnd {
  constructor(
    private readonly settlement: TaskSettlement,
    private readonly lifecycle: TaskLifecycleService,
    private readonly journal: TaskJournal,
    private readonly loss: RunnerLoss,
  ) {}

  async write(run: ActiveRun, outcome: TaskOutcome): Promise<void> {
    this.journal.keep(run.claim.taskId);
    await this.settlement.settle(run, (tx) => this.end(tx, run, outcome));
  }

  /** Inside the unit that writes the end: steps refused until then leave an output that is not whole (row 8). */
  private async end(tx: Tx, run: ActiveRun, outcome: TaskOutcome): Promise<Task> {
    const { claim } = run;
    const refusal = this.journal.refusalOf(claim.taskId);
    const verdict = run.verdict ?? refusal?.toBody();
    if (verdict) return this.lifecycle.fail(tx, claim, verdict);
    switch (outcome.kind) {
      case 'completed':
        return this.lifecycle.complete(tx, claim, outcome.result ?? null);
      case 'limited':
        return this.lifecycle.completeIncomplete(tx, claim);
      case 'failed':
        return this.lifecycle.fail(tx, claim, outcome.error);
      case 'lost':
        await this.journal.flushInto(tx, new Set([claim.taskId]));
        return this.loss.settle(tx, claim, outcome);
      case 'unusable':
        return this.lifecycle.startOver(tx, claim.taskId, outcome.reason, claim);
      case 'aborted':
        return this.lifecycle.confirmCancel(tx, claim.taskId, claim);
    }
  }
}
