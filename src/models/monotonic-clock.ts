/** Time for waits: never jumps with the wall clock. A class, so that it is its own injection token. */
export class MonotonicClock {
  /** Milliseconds from an arbitrary origin. */
  now(): number {
    return performance.now();
  }

  /** Calls `run` once after the delay; returns the function that calls it off. Keeps no process alive. */
  after(delayMs: number, run: () => void): () => void {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  }
}
