import type { EntityManager, QueryRunner } from 'typeorm';
import {
  brokenUnitRules,
  StatementsAtOnce,
  TransactionControl,
  TransactionEnded,
  UnawaitedStatement,
} from './database.errors.js';
import type { QueuedDatabase } from './queued-database.js';
import { Statement } from './statement.js';
import { sqliteCode } from './storage-fault.js';
import type { SqlParameters, Tx } from './tx.js';
import { watched } from './watched-orm.js';

/** Errors after which SQLite has certainly kept the transaction open; after any other it may have rolled it back. */
const HARMLESS_CODES = new Set([
  'SQLITE_CONSTRAINT',
  'SQLITE_ERROR',
  'SQLITE_MISMATCH',
  'SQLITE_RANGE',
  'SQLITE_TOOBIG',
]);

const CONTROL = /^\s*(begin|commit|end|rollback|savepoint|release)\b/i;

/** Sends a statement to the connection with the permit of the unit. */
export type Send = <T>(statement: () => Promise<T>) => Promise<T>;

/** One unit while it is open: its `tx`, the statements in flight, and what must be known at its end. */
export class OpenUnit {
  readonly tx: Tx;
  private readonly inFlight = new Set<Promise<unknown>>();
  private readonly handedOut: Array<{ use: string; statement: Statement<unknown> }> = [];
  private readonly committed: Array<() => void> = [];
  private readonly rolledBack: Array<() => void> = [];
  private failure: Error | null = null;
  private sealed = false;

  constructor(
    private readonly runner: QueryRunner,
    private readonly connection: QueuedDatabase,
    private readonly send: Send,
  ) {
    this.tx = this.createTx();
  }

  get isOpen(): boolean {
    return !this.sealed;
  }

  /** No further statement; what was sent is still to be waited for. */
  seal(): void {
    this.sealed = true;
  }

  get hasStatementsInFlight(): boolean {
    return this.inFlight.size > 0;
  }

  async waitForStatements(): Promise<void> {
    while (this.inFlight.size > 0) await Promise.allSettled(this.inFlight);
  }

  /** Why a unit whose work ended well must not commit; null where it may. Asked before the statements in flight end. */
  reasonAgainstCommit(): Error | null {
    if (this.failure) return this.failure;
    const neglected = this.handedOut.filter(({ statement }) => !statement.awaited).map(({ use }) => use);
    if (neglected.length > 0) return new UnawaitedStatement(neglected);
    return this.hasStatementsInFlight ? new UnawaitedStatement(['a statement in flight']) : null;
  }

  /** @param report takes what a callback threw: the commit stands, and the other callbacks are called. */
  announceCommit(report: (error: unknown) => void): void {
    callAll(this.committed, report);
  }

  announceRollback(report: (error: unknown) => void): void {
    callAll(this.rolledBack, report);
  }

  private createTx(): Tx {
    const createManager = (): EntityManager => this.createManager();
    let manager: EntityManager | null = null;
    return {
      query: <R>(sql: string, parameters: SqlParameters = []) =>
        this.handOut(
          sql,
          this.sendStatement(sql, () => this.connection.send<R>('all', sql, parameters)).then(({ rows }) => rows),
        ),
      execute: (sql, parameters = []) =>
        this.handOut(
          sql,
          this.sendStatement(sql, () => this.connection.send('run', sql, parameters)).then(({ affected }) => ({
            affected,
          })),
        ),
      /** Made where it is asked for: most units are a few statements, and it costs as much as one. */
      get manager() {
        return (manager ??= createManager());
      },
      afterCommit: (callback) => this.remember(this.committed, callback, 'afterCommit'),
      afterRollback: (callback) => this.remember(this.rolledBack, callback, 'afterRollback'),
    };
  }

  private createManager(): EntityManager {
    const runner = this.createRunner();
    const manager = runner.connection.createEntityManager(runner);
    // `save` and `remove` go through the manager that they find on the query runner.
    Object.assign(runner, { manager });
    return watched<EntityManager>(manager, (use, outcome) => this.handOut(use, outcome));
  }

  /** TypeORM's one query runner, seen through the unit: always inside a transaction, which it can neither begin nor end. */
  private createRunner(): QueryRunner {
    const refuse = (use: string) => () => Promise.reject(new TransactionControl(use));
    const own = {
      isTransactionActive: true,
      query: (sql: string, parameters?: unknown[], structured?: boolean) =>
        this.sendStatement(sql, () => this.runner.query(sql, parameters, structured as true)),
      startTransaction: refuse('startTransaction'),
      commitTransaction: refuse('commitTransaction'),
      rollbackTransaction: refuse('rollbackTransaction'),
      release: () => Promise.resolve(),
    };
    return Object.assign(Object.create(this.runner) as QueryRunner, own);
  }

  private sendStatement<T>(sql: string, statement: () => Promise<T>): Promise<T> {
    if (this.sealed) return Promise.reject(new TransactionEnded(sql));
    if (this.failure) return Promise.reject(this.failure);
    if (CONTROL.test(sql)) return Promise.reject(new TransactionControl(sql));
    const outcome = this.send(statement).catch((error: Error) => {
      this.noteFailure(error);
      throw error;
    });
    this.track(outcome);
    return outcome;
  }

  /** After SQLITE_FULL and its like the transaction is gone: a later statement would commit by itself. */
  private noteFailure(error: Error): void {
    if (!HARMLESS_CODES.has(sqliteCode(error) ?? '')) this.failure ??= error;
  }

  private handOut<T>(use: string, outcome: Promise<T>): Promise<T> {
    if (this.sealed) return outcome;
    const statement = Statement.of(outcome);
    const last = this.handedOut.at(-1);
    const isAtOnce = last !== undefined && this.inFlight.has(last.statement);
    if (isAtOnce && brokenUnitRules.hasSubscribers) brokenUnitRules.publish(new StatementsAtOnce([last.use, use]));
    this.handedOut.push({ use, statement });
    this.track(statement);
    return statement;
  }

  private track(outcome: Promise<unknown>): void {
    const settled = () => void this.inFlight.delete(outcome);
    this.inFlight.add(outcome);
    void Promise.prototype.then.call(outcome, settled, settled);
  }

  private remember(list: Array<() => void>, callback: () => void, use: string): void {
    if (this.sealed) throw new TransactionEnded(use);
    list.push(callback);
  }
}

function callAll(callbacks: ReadonlyArray<() => void>, report: (error: unknown) => void): void {
  for (const callback of callbacks) {
    try {
      callback();
    } catch (error) {
      report(error);
    }
  }
}
