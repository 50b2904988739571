/** The two clocks of the machine. A class, so that it is its own injection token and tests can put theirs in its place. */
export class Clock {
  /** Epoch milliseconds: what people call the time. Jumps when it is set, and over a suspend. */
  wallMs(): number {
    return Date.now();
  }

  /** Milliseconds from an arbitrary origin; never jumps back, and on most systems stands still during a suspend. */
  monotonicMs(): number {
    return performance.now();
  }
}
