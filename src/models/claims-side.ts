import type { MonotonicClock } from './monotonic-clock.js';

/** How long a free seat is kept for the claim side when it is its turn: a claim has to look into the store first. */
const OFFER_MS = 100;
/** The same for a seat that may have cost another model its memory. */
const LOAD_OFFER_MS = 1000;

/** Those who claim tasks, as one model sees them: they are refused, told of a free seat, and come back. */
export class ClaimsSide {
  /** They were refused a seat and have not been told of a free one since. */
  isRefused = false;
  /** They were told, and have not come back yet. */
  private toldAt = -Infinity;
  /** Set while a seat is kept for them. */
  private cancelOffer: (() => void) | null = null;

  constructor(
    private readonly clock: MonotonicClock,
    private readonly seatFree: () => void,
  ) {}

  get isOffered(): boolean {
    return this.cancelOffer !== null;
  }

  /** Milliseconds for which they may still be on their way; 0: nobody is. */
  get expectedMs(): number {
    return Math.max(0, this.toldAt + OFFER_MS - this.clock.now());
  }

  /** They have asked for a seat. */
  came(): void {
    this.toldAt = -Infinity;
  }

  tell(): void {
    if (!this.isRefused) return;
    this.isRefused = false;
    this.toldAt = this.clock.now();
    this.seatFree();
  }

  /** Tells them, and keeps the seat for a moment; `unused`: nobody came, so there was nothing to claim after all. */
  offer(forLoad: boolean, unused: () => void): void {
    this.cancelOffer = this.clock.after(forLoad ? LOAD_OFFER_MS : OFFER_MS, () => {
      this.cancelOffer = null;
      unused();
    });
    this.tell();
  }

  /** False: there was none. */
  endOffer(): boolean {
    if (this.cancelOffer === null) return false;
    this.cancelOffer();
    this.cancelOffer = null;
    return true;
  }
}
