const MINUTE_MS = 60_000;

/** Callers remembered at most; beyond, the one that was quiet longest is forgotten. */
const MOST_CALLERS = 10_000;

interface Bucket {
  tokens: number;
  /** Monotonic milliseconds. */
  filledAt: number;
}

export interface RateLimiterOptions {
  perMinute: number;
  mostCallers?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/**
 * A token bucket for each caller: `perMinute` at once, and as many again evenly over each minute. Its memory is bounded,
 * and a caller that is forgotten begins with a full bucket.
 */
export class RateLimiter {
  /** Least recently used first. */
  private readonly buckets = new Map<string, Bucket>();
  private readonly perMinute: number;
  private readonly mostCallers: number;
  private readonly now: () => number;

  constructor({ perMinute, mostCallers = MOST_CALLERS, now = () => performance.now() }: RateLimiterOptions) {
    this.perMinute = perMinute;
    this.mostCallers = mostCallers;
    this.now = now;
  }

  /** Takes one from the caller's bucket; 0, or the seconds after which there is one again. */
  take(caller: string): number {
    const bucket = this.filled(caller);
    this.buckets.delete(caller);
    this.buckets.set(caller, bucket);
    this.forgetBeyond();
    if (bucket.tokens < 1) return ((1 - bucket.tokens) * MINUTE_MS) / this.perMinute / 1000;
    bucket.tokens -= 1;
    return 0;
  }

  get size(): number {
    return this.buckets.size;
  }

  private filled(caller: string): Bucket {
    const now = this.now();
    const known = this.buckets.get(caller);
    if (!known) return { tokens: this.perMinute, filledAt: now };
    const fresh = ((now - known.filledAt) * this.perMinute) / MINUTE_MS;
    return { tokens: Math.min(this.perMinute, known.tokens + fresh), filledAt: now };
  }

  private forgetBeyond(): void {
    for (const caller of this.buckets.keys()) {
      if (this.buckets.size <= this.mostCallers) return;
      this.buckets.delete(caller);
    }
  }
}
