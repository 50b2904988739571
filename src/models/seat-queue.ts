import type { ModelSeat } from './model-seat.js';

interface Waiter {
  resolve(seat: ModelSeat): void;
  reject(reason: Error): void;
}

/** Foreground requests that wait for a seat on one model, first come first served. */
export class SeatQueue {
  private readonly waiters = new Set<Waiter>();

  get length(): number {
    return this.waiters.size;
  }

  /** Rejects with the signal's reason once it aborts. */
  join(signal: AbortSignal): Promise<ModelSeat> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiters.delete(waiter);
        signal.removeEventListener('abort', abort);
      };
      const waiter: Waiter = {
        resolve: (seat) => {
          leave();
          resolve(seat);
        },
        reject: (reason) => {
          leave();
          reject(reason);
        },
      };
      const abort = (): void => waiter.reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      this.waiters.add(waiter);
    });
  }

  /** Gives the seat to the one who waited longest; there must be one. */
  serve(seat: ModelSeat): void {
    const [first] = this.waiters;
    first?.resolve(seat);
  }

  refuseAll(error: Error): void {
    for (const waiter of [...this.waiters]) waiter.reject(error);
  }
}
