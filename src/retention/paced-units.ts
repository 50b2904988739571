import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { UnitOfWork, type Tx } from '../database/index.js';

/** Units of work of a job that nobody waits for: after each the writer is free for others for at least as long. */
@Injectable()
export class PacedUnits {
  private readonly stopped = new AbortController();

  constructor(
    private readonly units: UnitOfWork,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  get isStopped(): boolean {
    return this.stopped.signal.aborted;
  }

  /** Cuts a pause short; the unit before it has been committed. */
  stop(): void {
    this.stopped.abort();
  }

  /** Resolves after the pause. `tookMs`: how long the writer was held. */
  async run<T>(work: (tx: Tx) => Promise<T>): Promise<{ value: T; tookMs: number }> {
    let began = 0;
    const value = await this.units.run((tx) => {
      began = performance.now();
      return work(tx);
    });
    const tookMs = performance.now() - began;
    const pauseMs = Math.max(this.config.retentionPauseMs, tookMs);
    await delay(pauseMs, undefined, { signal: this.stopped.signal }).catch(() => undefined);
    return { value, tookMs };
  }
}
