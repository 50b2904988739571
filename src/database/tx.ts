import type { EntityManager } from 'typeorm';

/** Values for the `?` of a statement, in order. */
export type SqlParameters = readonly unknown[];

/**
 * The open transaction of one unit of work, and dead with it: each later use throws TransactionEnded. Every function
 * that writes takes it as its first parameter. Each promise it gives must be awaited inside the unit.
 */
export interface Tx {
  /** Rows of a statement. `update … returning` gives rows only with a lower-case first word (STACK 4). */
  query<R>(sql: string, parameters?: SqlParameters): Promise<R[]>;
  /** Runs INSERT, UPDATE or DELETE; `affected` is the number of rows that changed, triggers and cascades not counted. */
  execute(sql: string, parameters?: SqlParameters): Promise<{ affected: number }>;
  /** TypeORM's entity manager on this transaction. */
  readonly manager: EntityManager;
  /** Called once the commit is on disk, in the order of registration, before the next unit's callbacks. */
  afterCommit(callback: () => void): void;
  /** Called after a rollback and before the next unit starts. Must not wait and must not use the store. */
  afterRollback(callback: () => void): void;
}
