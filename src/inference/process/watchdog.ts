const TICK_MS = 1_000;

/**
 * Calls `stalled` once when nothing was heard for `limitMs` while something was expected. Time is monotonic, and a tick
 * counts for two intervals at most: what this process slept through (suspend, a debugger) is nobody's stall.
 */
export class Watchdog {
  private readonly timer: NodeJS.Timeout;
  private silentMs = 0;
  private lastTick = performance.now();
  private expecting = false;

  constructor(
    private readonly limitMs: number,
    private readonly stalled: () => void,
    tickMs = Math.min(TICK_MS, limitMs / 4),
  ) {
    this.timer = setInterval(() => this.tick(2 * tickMs), tickMs);
    this.timer.unref();
  }

  /** Something was heard; `expecting` says whether more is to come. */
  heard(expecting: boolean): void {
    this.silentMs = 0;
    this.expecting = expecting;
  }

  /** Something is to come from now on; what was silent before does not count. */
  expect(): void {
    if (!this.expecting) this.heard(true);
  }

  /** Milliseconds without a sign while something is expected; 0 while nothing is. */
  get silence(): number {
    return this.expecting ? this.silentMs : 0;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private tick(mostMs: number): void {
    const now = performance.now();
    const passed = Math.min(now - this.lastTick, mostMs);
    this.lastTick = now;
    if (!this.expecting) return;
    this.silentMs += passed;
    if (this.silentMs < this.limitMs) return;
    this.stop();
    this.stalled();
  }
}
