import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, QueryRunner } from 'typeorm';
import type { Ballast } from './ballast.js';
import { NestedUnit, StoreClosed, UnitTimedOut } from './database.errors.js';
import { OpenUnit } from './open-unit.js';
import { StorageFault, storageFault, type StorageFaultKind } from './storage-fault.js';
import type { Tx } from './tx.js';
import type { GuardedDatabase } from './write-guard.js';

const INTERRUPT_INTERVAL_MS = 20;

export interface UnitOfWorkOptions {
  /** A unit that is open longer is interrupted and rolled back. */
  unitTimeoutMs: number;
  /** Units that have waited longer for a lock held elsewhere are refused together. */
  busyTimeoutMs: number;
  /** Takes what an afterCommit or afterRollback callback threw. */
  onCallbackError: (error: unknown) => void;
  /** Gives up room where a unit found the disk full; the unit is refused when that has resolved. */
  ballast: Pick<Ballast, 'giveUp' | 'requireRoom'>;
}

/** What a checkpoint left of the write-ahead log. */
export interface Fold {
  /** False: a reader of another process, or its lock, keeps the rest from being folded in. */
  complete: boolean;
}

/** What a unit is for: creates that came together, events of running tasks, anything else. */
export const UNIT_KINDS = ['accept', 'steps', 'other'] as const;
export type UnitKind = (typeof UNIT_KINDS)[number];

/** What whoever submits a unit says of it, for figures. */
export interface UnitPurpose {
  kind: UnitKind;
  /** Inputs that it writes; asked after the commit. Absent: it is no batch. */
  operations?: () => number;
}

/** A unit that is on disk. */
export interface CommittedUnit {
  kind: UnitKind;
  operations: number | null;
  /** The COMMIT alone: the wait for the disk. Milliseconds. */
  commitMs: number;
}

/** A unit from its submission to its end. */
interface Turn {
  since: number;
  refusedWith: StorageFault | null;
}

interface Scope {
  units: UnitOfWork;
  unit: OpenUnit;
  /** A statement of the unit itself is being sent; the write guard admits nothing else. */
  sending: boolean;
}

/** One for the process, however many stores it opens: Node looks at each there ever was with every promise it makes. */
const scopes = new AsyncLocalStorage<Scope>();

/** The open unit inside of which the caller runs; null: none, or it is a statement of one that is being sent. */
export function surroundingUnit(): Tx | null {
  const scope = scopes.getStore();
  return scope?.unit.isOpen === true && !scope.sending ? scope.unit.tx : null;
}

/**
 * The only place that begins, commits and rolls back (HOUSE 4). SQLite has one writer and TypeORM one connection to it,
 * so units run one after the other, in the order of their submission.
 */
export class UnitOfWork {
  private readonly runner: QueryRunner;
  private readonly turns: Turn[] = [];
  private tail: Promise<unknown> = Promise.resolve();
  private closing = false;
  private fault: StorageFaultKind | null = null;
  private readonly listeners = new Set<(unit: CommittedUnit) => void>();

  constructor(
    writer: DataSource,
    private readonly database: GuardedDatabase,
    private readonly options: UnitOfWorkOptions,
  ) {
    this.runner = writer.createQueryRunner();
    database.guard(() => this.scope()?.sending === true);
  }

  /**
   * Runs `work` in one transaction and resolves with its value once that is on disk. Whatever `work` throws rolls
   * everything back; a lock, a full or a failing disk reject as StorageFault. Inside: database calls only, each awaited,
   * no Promise.all, no other `run`.
   */
  run<T>(work: (tx: Tx) => Promise<T>, purpose: UnitPurpose = { kind: 'other' }): Promise<T> {
    return this.inTurn(() => this.transact(work, purpose));
  }

  /**
   * Moves the write-ahead log into the file and empties it, between two units. Waits for nobody: what a reader still
   * needs stays, and a later call takes it along.
   */
  fold(): Promise<Fold> {
    return this.inTurn(async () => {
      const unit = this.openUnit();
      unit.seal();
      try {
        await this.control(unit, 'PRAGMA busy_timeout = 0');
        const [row] = (await this.control(unit, 'PRAGMA wal_checkpoint(TRUNCATE)')) as [{ busy: number }];
        return { complete: row.busy === 0 };
      } finally {
        await this.control(unit, `PRAGMA busy_timeout = ${this.options.busyTimeoutMs}`);
      }
    });
  }

  /** For whoever is about to begin new work: throws storage_full while the room there is belongs to the work under way. */
  requireRoom(): Promise<void> {
    return this.options.ballast.requireRoom();
  }

  /** Age of the oldest unit that has not ended, in milliseconds; 0 when idle. What /health looks at. */
  oldestWaitMs(): number {
    const oldest = this.turns[0];
    return oldest ? performance.now() - oldest.since : 0;
  }

  /** Units that have not ended. */
  get queueLength(): number {
    return this.turns.length;
  }

  /** What the disk did to the last unit that it could do something to; null: the last commit succeeded. */
  get lastFault(): StorageFaultKind | null {
    return this.fault;
  }

  /** Hears of every commit, after the unit's own callbacks. Returns the function that takes the listener away again. */
  onCommit(listener: (unit: CommittedUnit) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Takes no further unit and resolves when the submitted ones have ended. */
  async close(): Promise<void> {
    this.closing = true;
    await this.tail;
  }

  private inTurn<T>(perform: () => Promise<T>): Promise<T> {
    if (this.scope()?.unit.isOpen) return Promise.reject(new NestedUnit());
    if (this.closing) return Promise.reject(new StoreClosed());
    const turn: Turn = { since: performance.now(), refusedWith: null };
    this.turns.push(turn);
    const outcome = this.tail.then(() => this.take(turn, perform));
    this.tail = outcome.catch(() => undefined);
    return outcome;
  }

  private async take<T>(turn: Turn, perform: () => Promise<T>): Promise<T> {
    try {
      if (turn.refusedWith) throw turn.refusedWith;
      return await perform();
    } catch (error) {
      const fault = storageFault(error);
      this.fault = fault ?? this.fault;
      if (fault === 'full') await this.options.ballast.giveUp();
      if (fault === null || error instanceof StorageFault) throw error;
      throw new StorageFault(fault, error);
    } finally {
      this.turns.shift();
    }
  }

  private async transact<T>(work: (tx: Tx) => Promise<T>, purpose: UnitPurpose): Promise<T> {
    const unit = this.openUnit();
    await this.begin(unit);
    let value: T;
    let commitMs: number;
    try {
      const scope: Scope = { units: this, unit, sending: false };
      value = await this.withinLimit(unit, () => scopes.run(scope, () => work(unit.tx)));
      const since = performance.now();
      await this.control(unit, 'COMMIT');
      commitMs = performance.now() - since;
    } catch (error) {
      // Also where SQLite has rolled back by itself, as it does when the disk is full: then this fails, which heals.
      await this.control(unit, 'ROLLBACK').catch(() => undefined);
      unit.announceRollback(this.options.onCallbackError);
      throw error;
    }
    this.fault = null;
    unit.announceCommit(this.options.onCallbackError);
    this.tell({ kind: purpose.kind, operations: purpose.operations?.() ?? null, commitMs });
    return value;
  }

  private openUnit(): OpenUnit {
    const unit: OpenUnit = new OpenUnit(this.runner, this.database, (send) => this.sending(unit, send));
    return unit;
  }

  private tell(unit: CommittedUnit): void {
    for (const listener of this.listeners) {
      try {
        listener(unit);
      } catch (error) {
        this.options.onCallbackError(error);
      }
    }
  }

  /** IMMEDIATE takes the write lock now, where the busy time-out is honoured; a later upgrade would not wait (STACK 2.2). */
  private async begin(unit: OpenUnit): Promise<void> {
    try {
      await this.control(unit, 'BEGIN IMMEDIATE');
    } catch (error) {
      unit.seal();
      if (storageFault(error) === 'busy') this.refuseWaiting(error);
      throw error;
    }
  }

  /** Each unit would otherwise wait its own busy time-out in turn: six units at five seconds are half a minute. */
  private refuseWaiting(cause: unknown): void {
    const latest = performance.now() - this.options.busyTimeoutMs;
    for (const turn of this.turns) if (turn.since <= latest) turn.refusedWith = new StorageFault('busy', cause);
  }

  private async withinLimit<T>(unit: OpenUnit, work: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<never>((_, reject) => {
      const limit = this.options.unitTimeoutMs;
      timer = setTimeout(() => reject(new UnitTimedOut(limit)), limit);
    });
    try {
      const value = await Promise.race([work(), expired]);
      const reason = unit.reasonAgainstCommit();
      if (reason) throw reason;
      return value;
    } finally {
      clearTimeout(timer);
      unit.seal();
      if (unit.hasStatementsInFlight) await this.interrupt(unit);
    }
  }

  /**
   * A unit with statements in flight at its end rolls back, so there is no use in finishing them. An interrupt stops
   * only what runs at that moment: it is repeated until nothing is in flight.
   */
  private async interrupt(unit: OpenUnit): Promise<void> {
    this.database.interrupt();
    const again = setInterval(() => this.database.interrupt(), INTERRUPT_INTERVAL_MS);
    await unit.waitForStatements();
    clearInterval(again);
  }

  /** The scope that the caller runs in, where it is of these units. */
  private scope(): Scope | null {
    const scope = scopes.getStore();
    return scope?.units === this ? scope : null;
  }

  private sending<T>(unit: OpenUnit, send: () => T): T {
    return scopes.run({ units: this, unit, sending: true }, send);
  }

  private async control(unit: OpenUnit, sql: string): Promise<unknown[]> {
    const { rows } = await this.sending(unit, () => this.database.send('all', sql, []));
    return rows;
  }
}
