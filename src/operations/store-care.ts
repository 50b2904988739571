import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { Store, StoreClosed, type BallastState } from '../database/index.js';
import { Notices } from '../notices/index.js';

/**
 * Looks after the files of the store while the service runs: puts the ballast back when there is room again, and
 * empties a write-ahead log that has outgrown its limit.
 */
@Injectable()
export class StoreCare {
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> = Promise.resolve();
  /** The log was found too large, and has not been emptied since. */
  private walIsLarge = false;

  constructor(
    private readonly store: Store,
    private readonly notices: Notices,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  start(): void {
    const { ballast } = this.store;
    ballast.onChange = (state) => this.tellBallast(state);
    if (ballast.state !== 'kept') this.tellBallast(ballast.state);
    const look = (): void => void (this.looking = this.looking.then(() => this.look()));
    this.timer = setInterval(look, this.config.storeCheckSeconds * 1000).unref();
  }

  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await this.looking;
  }

  /** Never rejects. */
  async look(): Promise<void> {
    try {
      await this.store.ballast.restore();
      await this.checkWal();
    } catch (error) {
      if (!(error instanceof StoreClosed)) this.notices.emit('store.check_failed', { error });
    }
  }

  private async checkWal(): Promise<void> {
    const bytes = await this.store.walBytes();
    const { walLimitBytes } = this.config;
    if (bytes <= walLimitBytes) return;
    if ((await this.store.units.fold()).complete) {
      this.walIsLarge = false;
      this.notices.emit('store.wal_folded', { bytes });
    } else if (!this.walIsLarge) {
      // Once for each time: a stuck reader may stay for days.
      this.walIsLarge = true;
      this.notices.emit('store.wal_large', { bytes, limit_bytes: walLimitBytes });
    }
  }

  private tellBallast(state: BallastState): void {
    if (state !== 'off') this.notices.emit('store.ballast', { state });
  }
}
