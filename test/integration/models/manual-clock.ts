import type { MonotonicClock } from '../../../src/models/monotonic-clock.js';

interface Timer {
  at: number;
  run: () => void;
}

/** Time that passes only when the test says so. */
export class ManualClock implements MonotonicClock {
  private time = 0;
  private readonly timers = new Set<Timer>();

  now(): number {
    return this.time;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.time + delayMs, run };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  /** Milliseconds until each pending timer, soonest first. */
  pending(): number[] {
    return [...this.timers].map(({ at }) => at - this.time).sort((a, b) => a - b);
  }

  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const [next] = [...this.timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.timers.delete(next);
      this.time = next.at;
      next.run();
    }
    this.time = end;
  }
}
