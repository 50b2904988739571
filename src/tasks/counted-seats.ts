import type { Seat } from './task-handlers.js';

/** Seats of a type whose tasks run in this process and need nothing loaded: so many at a time. */
export class CountedSeats {
  private taken = 0;

  /** @param freed hears of each seat that is given back: whoever waits can be claimed. */
  constructor(
    private readonly owner: string,
    private readonly most: number,
    private readonly freed: () => void,
  ) {}

  /** Null: all are taken. */
  take(): Seat | null {
    if (this.taken >= this.most) return null;
    this.taken += 1;
    let isHeld = true;
    return {
      owner: this.owner,
      resident: true,
      ready: Promise.resolve(),
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.taken -= 1;
        this.freed();
      },
    };
  }
}
