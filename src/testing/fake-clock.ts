import { Clock } from '../retention/index.js';

/** Both clocks in a test's hand. */
export class FakeClock extends Clock {
  private wall = Date.now();
  private monotonic = 1000;

  override wallMs(): number {
    return this.wall;
  }

  override monotonicMs(): number {
    return this.monotonic;
  }

  /** The machine is awake. */
  run(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
  }

  /** The machine sleeps, or the wall clock is set forward; back where it is negative. */
  jump(ms: number): void {
    this.wall += ms;
  }
}
