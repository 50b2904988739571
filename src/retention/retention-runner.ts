import { Injectable } from '@nestjs/common';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { ExpiryClock } from './expiry-clock.js';
import { PacedUnits } from './paced-units.js';
import type { RetentionRun, RetentionTrigger } from './retention-run.js';
import { RetentionSweep } from './retention-sweep.js';

/**
 * Runs retention, one run at a time, in small units with a pause after each: whoever writes meanwhile waits for one
 * batch at most (CASES BL-16). A kill at any point costs nothing: the next run finds what is left.
 */
@Injectable()
export class RetentionRunner {
  private running: Promise<RetentionRun> | null = null;
  private last: RetentionRun | null = null;

  constructor(
    private readonly sweep: RetentionSweep,
    private readonly units: PacedUnits,
    private readonly clock: ExpiryClock,
    private readonly notices: Notices,
  ) {}

  get isRunning(): boolean {
    return this.running !== null;
  }

  /** The last run of this process that has ended. */
  get lastRun(): RetentionRun | null {
    return this.last;
  }

  /** Resolves at the end of the run. Throws retention_in_progress: two at once would only wait for each other. */
  async run(trigger: RetentionTrigger): Promise<RetentionRun> {
    if (this.running) {
      throw new DomainError(
        'retention_in_progress',
        'Retention is running already; its report tells when it has ended.',
      );
    }
    this.running = this.perform(trigger);
    try {
      this.last = await this.running;
      return this.last;
    } finally {
      this.running = null;
    }
  }

  /** Lets a run end after the batch that it is in, and no other begin. */
  async stop(): Promise<void> {
    this.units.stop();
    await this.running?.catch(() => undefined);
  }

  private async perform(trigger: RetentionTrigger): Promise<RetentionRun> {
    const startedAt = Date.now();
    // One time for the whole run: it removes what was due at its start, and so comes to an end.
    const now = this.clock.now();
    const kinds = await this.sweep.remove(now);
    const freedPages = await this.sweep.releasePages();
    const run = { trigger, startedAt, finishedAt: Date.now(), held: now === 0, interrupted: this.units.isStopped };
    this.tell({ ...run, kinds, freedPages });
    return { ...run, kinds, freedPages };
  }

  private tell({ trigger, startedAt, finishedAt, held, interrupted, kinds, freedPages }: RetentionRun): void {
    for (const { kind, removed, rows, batches } of kinds) {
      if (rows > 0) this.notices.emit('retention.removed', { kind, removed, rows, batches });
    }
    this.notices.emit('retention.finished', {
      trigger,
      removed: kinds.reduce((sum, { removed }) => sum + removed, 0),
      failed_kinds: kinds.filter(({ failed }) => failed).length,
      freed_pages: freedPages,
      held,
      interrupted,
      duration_ms: finishedAt - startedAt,
    });
  }
}
