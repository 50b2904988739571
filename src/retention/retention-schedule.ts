import { Inject, Injectable } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { CronJob } from 'cron';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { ExpiryClock } from './expiry-clock.js';
import { RetentionRunner } from './retention-runner.js';
import type { RetentionTrigger } from './retention-run.js';

const JOB = 'retention';

/** Begins the runs of retention: at the start, by `retentionCron`, and when a hold of the clock ends. */
@Injectable()
export class RetentionSchedule {
  private afterHold: NodeJS.Timeout | null = null;
  private stopped = false;

  constructor(
    private readonly runner: RetentionRunner,
    private readonly clock: ExpiryClock,
    private readonly jobs: SchedulerRegistry,
    private readonly notices: Notices,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Once recovery has ended. Returns at once; the first run goes on beside the work of the service. */
  start(): void {
    if (this.stopped) return;
    const job = CronJob.from({
      cronTime: this.config.retentionCron,
      onTick: () => this.begin('schedule'),
      unrefTimeout: true,
      start: true,
    });
    this.jobs.addCronJob(JOB, job);
    void this.begin('start');
  }

  /** No further run; the one that is going on ends after its batch. */
  async stop(): Promise<void> {
    this.stopped = true;
    if (this.jobs.doesExist('cron', JOB)) this.jobs.deleteCronJob(JOB);
    if (this.afterHold) clearTimeout(this.afterHold);
    await this.runner.stop();
  }

  /** Epoch milliseconds of the next scheduled run; null before the start and after the stop. */
  nextRunAt(): number | null {
    return this.jobs.doesExist('cron', JOB) ? this.jobs.getCronJob(JOB).nextDate().toMillis() : null;
  }

  private async begin(trigger: RetentionTrigger): Promise<void> {
    try {
      const { held } = await this.runner.run(trigger);
      if (held) this.beginAfterHold();
    } catch (error) {
      // The operator's run, or a long one before, does the same.
      if (error instanceof DomainError && error.code === 'retention_in_progress') return;
      this.notices.emit('retention.failed', { kind: null, error });
    }
  }

  /** The hold may have grown meanwhile: then that run is held as well and comes here again. */
  private beginAfterHold(): void {
    if (this.afterHold) clearTimeout(this.afterHold);
    this.afterHold = setTimeout(() => void this.begin('schedule'), this.clock.heldMs() + 1).unref();
  }
}
