const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
/** A runner that lived this long did not die of being loaded. */
const STEADY_MS = 60_000;

/** Keeps a model that fails again and again from being loaded in a tight loop: waits twice as long each time. */
export class RetryBackoff {
  private failures = 0;

  /**
   * Milliseconds until the next try, after a failed load or the death of a runner that had run for `livedMs`;
   * `progressed`: it had made a step that is on disk.
   */
  next(livedMs: number, progressed = false): number {
    if (livedMs >= STEADY_MS || progressed) this.failures = 0;
    const delay = Math.min(FIRST_DELAY_MS * 2 ** this.failures, LONGEST_DELAY_MS);
    this.failures += 1;
    return delay;
  }

  reset(): void {
    this.failures = 0;
  }
}
