import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '../errors/index.js';
import { StorageFault, type StorageFaultKind } from './storage-fault.js';
import type { Tx } from './tx.js';
import type { UnitKind, UnitOfWork } from './unit-of-work.js';

const PAUSE_AFTER_FAULT_MS = 50;
const WAITING_BATCHES = 64;
/** So many are company enough. */
const GATHERED = 16;

export interface BatcherOptions<I, O> {
  units: Pick<UnitOfWork, 'run'>;
  /** What its units are for. */
  kind: UnitKind;
  /** Most inputs in one transaction. */
  maxBatch: number;
  /** Most inputs waiting; further ones are refused with storage_busy. 64 batches by default. */
  maxWaiting?: number;
  /** How long an input outlives a locked, full or failing disk before it is refused with that fault; 0 by default. */
  storageWaitMs?: (fault: StorageFaultKind) => number;
  /** Inputs after which more come at once: alone, they wait for company for a moment after the last commit began. */
  gathers?: (input: I) => boolean;
  /** That moment, in milliseconds; 0 by default. */
  gatherMs?: number;
  /** Inputs that outlive it: whoever waits for them goes on trying. */
  keeps?: (input: I) => boolean;
  /**
   * Writes all inputs with set-wise statements and gives one closure for each, in order, called after the commit:
   * its value resolves the input's `submit`, what it throws rejects it. May be called again for the same input, alone,
   * so numbers and JSON are made inside.
   */
  run: (tx: Tx, inputs: I[]) => Promise<Array<() => O>>;
}

/** An input that waits for its commit, with the promise of its submitter. */
export interface Waiting<I, O> {
  readonly input: I;
  readonly resolve: (value: O) => void;
  readonly reject: (error: unknown) => void;
}

interface Entry<I, O> extends Waiting<I, O> {
  since: number;
  /** Was in a batch that failed: runs by itself, so that one poison input cannot fail its neighbours. */
  alone: boolean;
}

/**
 * Group commit: what arrives while a commit runs forms the next batch, so load makes batches larger and idleness adds
 * no delay (STACK 3.5, HOUSE 4.8). Commits of a stream that is alone would cost more than its tokens, so what `gathers`
 * is committed at once when nothing was lately, and else with what came within `gatherMs` of the last one's beginning.
 */
export class Batcher<I, O> {
  private waiting: Array<Entry<I, O>> = [];
  private draining = false;
  private beganAt = -Infinity;
  /** Ends the wait for company. */
  private hurry: () => void = () => undefined;

  constructor(private readonly options: BatcherOptions<I, O>) {}

  /** Resolves with the outcome of this input once its batch is on disk. */
  submit(input: I): Promise<O> {
    const { maxBatch, maxWaiting = maxBatch * WAITING_BATCHES } = this.options;
    if (this.waiting.length >= maxWaiting) {
      return Promise.reject(
        new DomainError('storage_busy', 'Too many writes are waiting; send the request again.', {
          retryAfterSeconds: 1,
        }),
      );
    }
    return new Promise<O>((resolve, reject) => {
      this.waiting.push({ input, resolve, reject, since: performance.now(), alone: false });
      if (!this.mayGather()) this.hurry();
      this.startDraining();
    });
  }

  /**
   * Takes waiting inputs out, in order, for the unit of `tx` to write or drop itself; inside a unit none of them can be
   * in another transaction. If the unit rolls back they wait again, else the caller settles them after its commit.
   */
  take(tx: Tx, match: (input: I) => boolean): Array<Waiting<I, O>> {
    const taken = this.waiting.filter((entry) => match(entry.input));
    this.waiting = this.waiting.filter((entry) => !taken.includes(entry));
    tx.afterRollback(() => this.putBack(taken));
    return taken;
  }

  private putBack(entries: Array<Entry<I, O>>): void {
    this.waiting.unshift(...entries);
    this.startDraining();
  }

  private startDraining(): void {
    if (this.draining || this.waiting.length === 0) return;
    this.draining = true;
    setImmediate(() => void this.drain());
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      await this.gather();
      // A transition may have taken all of it along meanwhile.
      if (this.waiting.length > 0) await this.writeOne();
    }
    this.draining = false;
  }

  private async gather(): Promise<void> {
    const left = this.beganAt + (this.options.gatherMs ?? 0) - performance.now();
    if (left <= 0 || !this.mayGather()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left);
      this.hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private mayGather(): boolean {
    const { gathers = () => false } = this.options;
    return this.waiting.length < GATHERED && this.waiting.every(({ input }) => gathers(input));
  }

  private async writeOne(): Promise<void> {
    let batch: Array<Entry<I, O>> = [];
    let outcomes: Array<() => O> = [];
    const purpose = { kind: this.options.kind, operations: () => batch.length };
    this.beganAt = performance.now();
    try {
      await this.options.units.run(async (tx) => {
        // Inside the unit: whoever queued up meanwhile comes along, and a unit before this one could still `take`.
        batch = this.nextBatch();
        tx.afterRollback(() => this.putBack(batch));
        if (batch.length > 0) outcomes = await this.runBatch(tx, batch);
      }, purpose);
    } catch (error) {
      await this.handleFailure(batch, error);
      return;
    }
    batch.forEach((entry, index) => settle(entry, outcomes[index]!));
  }

  private nextBatch(): Array<Entry<I, O>> {
    const firstAlone = this.waiting.findIndex((entry) => entry.alone);
    const size = firstAlone === 0 ? 1 : firstAlone === -1 ? this.options.maxBatch : firstAlone;
    return this.waiting.splice(0, Math.min(size, this.options.maxBatch));
  }

  private async runBatch(tx: Tx, batch: Array<Entry<I, O>>): Promise<Array<() => O>> {
    const outcomes = await this.options.run(
      tx,
      batch.map((entry) => entry.input),
    );
    if (outcomes.length === batch.length) return outcomes;
    throw new Error(`a batch of ${batch.length} inputs gave ${outcomes.length} outcomes`);
  }

  /** The batch stands at the head of the queue again, unless it never began. */
  private async handleFailure(batch: Array<Entry<I, O>>, error: unknown): Promise<void> {
    if (error instanceof StorageFault) {
      const latest = performance.now() - (this.options.storageWaitMs?.(error.fault) ?? 0);
      this.refuse((entry) => entry.since <= latest && !this.options.keeps?.(entry.input), error);
      if (this.waiting.length > 0) await delay(PAUSE_AFTER_FAULT_MS);
    } else if (batch.length > 1) {
      for (const entry of batch) entry.alone = true;
    } else {
      // A lone input is its own poison; with none, the store takes no more units.
      this.refuse((entry) => batch.length === 0 || batch.includes(entry), error);
    }
  }

  private refuse(match: (entry: Entry<I, O>) => boolean, error: unknown): void {
    const refused = this.waiting.filter(match);
    this.waiting = this.waiting.filter((entry) => !refused.includes(entry));
    for (const entry of refused) entry.reject(error);
  }
}

function settle<I, O>(entry: Entry<I, O>, outcome: () => O): void {
  try {
    entry.resolve(outcome());
  } catch (error) {
    entry.reject(error);
  }
}
