import type { Incarnation } from './model-seat.js';

interface Waiter {
  resolve(incarnation: Incarnation): void;
  reject(error: Error): void;
}

/** Explicit loads of one model that wait until there is room for it. */
export class LoadCalls {
  private waiting: Waiter[] = [];

  get length(): number {
    return this.waiting.length;
  }

  join(): Promise<Incarnation> {
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  begun(incarnation: Incarnation): void {
    for (const waiter of this.waiting.splice(0)) waiter.resolve(incarnation);
  }

  refuseAll(error: Error): void {
    for (const waiter of this.waiting.splice(0)) waiter.reject(error);
  }
}
