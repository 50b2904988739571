import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ServiceStopping } from '../errors/index.js';
import { TaskUnits } from './hooks/task-units.js';
import { TaskJournal } from './task-journal.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import { TaskRunner } from './task-runner.js';
import { TaskSettlement } from './task-settlement.js';

/** The clean stop of WIRE B6 for tasks: nothing in the background is cancelled or failed by it. */
@Injectable()
export class TaskStop {
  constructor(
    private readonly units: TaskUnits,
    private readonly lifecycle: TaskLifecycleService,
    private readonly runner: TaskRunner,
    private readonly settlement: TaskSettlement,
    private readonly journal: TaskJournal,
  ) {}

  /** Claims nothing more; foreground tasks that still wait fail (row 12). */
  async stopClaiming(): Promise<void> {
    await this.runner.stopClaiming();
    await this.units.run(async (tx) => {
      const waiting = await tx.query<{ id: string }>(`select id from tasks where status = 'queued' and background = 0`);
      for (const { id } of waiting) await this.lifecycle.failQueued(tx, id, new ServiceStopping().toBody());
    });
  }

  /** Waits for running foreground work, then fails what is left of it (rows 5, 8 and 11). */
  async finishForeground(graceMs: number): Promise<void> {
    const foreground = this.runner.idle((run) => !run.claimed.task.background);
    const timeUp = new AbortController();
    await Promise.race([foreground, delay(graceMs, undefined, { signal: timeUp.signal }).catch(() => undefined)]);
    timeUp.abort();
    for (const run of this.runner.runs()) if (!run.claimed.task.background) run.stop(new ServiceStopping().toBody());
    await foreground;
  }

  /** Ends the other runs without a transition, stores their last steps, and lets go of their rows. */
  async endRuns(): Promise<void> {
    this.settlement.fence();
    for (const run of this.runner.runs()) run.stop();
    await this.runner.idle();
    await this.journal.drained();
    await this.units.run((tx) => this.lifecycle.releaseOwners(tx));
  }
}
