import { setTimeout as delay } from 'node:timers/promises';

/** What all pulls together may receive: whoever took bytes waits until their time has passed. */
export class Bandwidth {
  private freeAt = 0;

  /** @param bytesPerSecond 0: no limit */
  constructor(
    private readonly bytesPerSecond: number,
    private readonly now: () => number = () => performance.now(),
    private readonly wait: (ms: number, signal: AbortSignal) => Promise<unknown> = (ms, signal) =>
      delay(ms, undefined, { signal }),
  ) {}

  /** Rejects with the signal's reason when aborted. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    const pauseMs = this.pauseAfter(bytes);
    if (pauseMs > 0) await this.wait(pauseMs, signal).catch(() => signal.throwIfAborted());
  }

  /** Milliseconds to wait once these bytes were received. */
  pauseAfter(bytes: number): number {
    if (this.bytesPerSecond === 0) return 0;
    const now = this.now();
    this.freeAt = Math.max(now, this.freeAt) + (bytes / this.bytesPerSecond) * 1000;
    return this.freeAt - now;
  }
}
