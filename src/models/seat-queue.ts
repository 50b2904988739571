import type { ModelSeat } from './model-seat.js';

interface Waiter {
  resolve(seat: ModelSeat): void;
  reject(reason: Error): void;
}

/** Foreground requests that wait for a seat on one model: clients in turn, each client's own first come first served. */
export class SeatQueue {
  /** By turn: whose is next stands first, who was served or has joined last stands last. */
  private readonly clients = new Map<string, Set<Waiter>>();

  get length(): number {
    let waiting = 0;
    for (const own of this.clients.values()) waiting += own.size;
    return waiting;
  }

  lengthOf(clientId: string): number {
    return this.clients.get(clientId)?.size ?? 0;
  }

  /** Rejects with the signal's reason once it aborts. */
  join(signal: AbortSignal, clientId: string): Promise<ModelSeat> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.remove(clientId, waiter);
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
      this.clients.set(clientId, (this.clients.get(clientId) ?? new Set()).add(waiter));
    });
  }

  /** Gives the seat to the client whose turn it is; somebody must wait. */
  serve(seat: ModelSeat): void {
    const [next] = this.clients;
    if (next === undefined) return;
    const [clientId, own] = next;
    // The others come before its next one.
    this.clients.delete(clientId);
    this.clients.set(clientId, own);
    const [first] = own;
    first?.resolve(seat);
  }

  refuseAll(error: Error): void {
    for (const own of [...this.clients.values()]) for (const waiter of [...own]) waiter.reject(error);
  }

  private remove(clientId: string, waiter: Waiter): void {
    const own = this.clients.get(clientId);
    own?.delete(waiter);
    if (own?.size === 0) this.clients.delete(clientId);
  }
}
