import type { MonotonicClock } from './monotonic-clock.js';

/** For ever. */
const NEVER = -1;
/** Longest wait of node's timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Ends a loaded model that nobody uses any more, once its time is over. */
export class IdleTimer {
  /** As the last request wished that named a time; null: none did. */
  wish: number | null = null;
  private cancel: (() => void) | null = null;
  private endsAtMs: number | null = null;

  /** `seconds`: unless a request wishes otherwise; -1: for ever. */
  constructor(
    private readonly clock: MonotonicClock,
    private readonly seconds: () => number,
    private readonly end: () => void,
  ) {}

  /** Epoch milliseconds, for showing; null: the model is in use, or stays. */
  get endsAt(): number | null {
    return this.endsAtMs;
  }

  /** From now on nobody uses it. `leastMs`: somebody is expected within this time. */
  start(leastMs = 0): void {
    this.stop();
    const seconds = this.wish ?? this.seconds();
    if (seconds === NEVER) return;
    const delay = Math.max(seconds * 1000, leastMs);
    this.endsAtMs = Date.now() + delay;
    this.wait(delay);
  }

  stop(): void {
    this.cancel?.();
    this.cancel = null;
    this.endsAtMs = null;
  }

  private wait(rest: number): void {
    const step = Math.min(rest, LONGEST_TIMER_MS);
    this.cancel = this.clock.after(step, () => {
      if (rest > step) return this.wait(rest - step);
      this.stop();
      this.end();
    });
  }
}
