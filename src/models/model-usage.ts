import type { EngineActivity } from '../inference/index.js';
import { IdleTimer } from './idle-timer.js';
import type { MonotonicClock } from './monotonic-clock.js';

const LEAST_BETWEEN_MEASUREMENTS_MS = 1000;

export interface UsageSurroundings {
  readonly clock: MonotonicClock;
  /** How long the model stays loaded when nobody uses it and no request wished otherwise; -1: for ever. */
  keepAliveSeconds(): number;
  /** That time is over. */
  expired(): void;
  measured(residentBytes: number): void;
}

/** When a model was used, what it takes, and how long it stays loaded without being used. */
export class ModelUsage {
  /** Epoch milliseconds, for showing. */
  lastUsedAt: number | null = null;
  /** By the monotonic clock, its load included. */
  lastUsed = 0;
  private readonly idle: IdleTimer;
  private measuredAt = -Infinity;

  constructor(private readonly surroundings: UsageSurroundings) {
    this.idle = new IdleTimer(
      surroundings.clock,
      () => surroundings.keepAliveSeconds(),
      () => surroundings.expired(),
    );
  }

  /** Epoch milliseconds; null: it is not loaded, in use, or stays. */
  get unloadsAt(): number | null {
    return this.idle.endsAt;
  }

  begins(): void {
    this.idle.stop();
    this.touch();
    this.lastUsedAt = Date.now();
  }

  ends(activity: Promise<EngineActivity> | null): void {
    this.begins();
    const { clock } = this.surroundings;
    if (activity === null || clock.now() - this.measuredAt < LEAST_BETWEEN_MEASUREMENTS_MS) return;
    this.measuredAt = clock.now();
    activity.then(
      ({ residentBytes }) => this.surroundings.measured(residentBytes),
      () => undefined,
    );
  }

  /** It is being loaded, or was. */
  touch(): void {
    this.lastUsed = this.surroundings.clock.now();
  }

  /** Nobody uses it; `leastMs`: somebody is expected within this time. */
  rest(leastMs: number): void {
    if (this.idle.endsAt === null) this.idle.start(leastMs);
  }

  /** From now on it stays so long. */
  keep(seconds: number): void {
    this.idle.wish = seconds;
    this.idle.stop();
  }

  unloaded(): void {
    this.idle.stop();
    this.idle.wish = null;
  }
}
