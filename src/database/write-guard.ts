import sqlite3 from 'sqlite3';
import { WriteOutsideUnit } from './database.errors.js';
import { QueuedDatabase } from './queued-database.js';

type Admits = () => boolean;

/**
 * The writing connection. TypeORM has exactly one, and a statement that reaches it outside a unit joins whichever
 * transaction is open and shares its fate (HOUSE 4): once guarded, the connection refuses such statements itself.
 */
export class GuardedDatabase extends QueuedDatabase {
  private admits: Admits | undefined;

  /** From now on only statements for which `admits` holds at the moment they are sent; before, at boot, all pass. */
  guard(admits: Admits): void {
    this.admits = admits;
  }

  override run(sql: string, ...rest: never[]): this {
    this.check(sql);
    return super.run(sql, ...rest);
  }

  override all(sql: string, ...rest: never[]): this {
    this.check(sql);
    return super.all(sql, ...rest);
  }

  override get(sql: string, ...rest: never[]): this {
    this.check(sql);
    return super.get(sql, ...rest);
  }

  override each(sql: string, ...rest: never[]): this {
    this.check(sql);
    return super.each(sql, ...rest);
  }

  override exec(sql: string, ...rest: never[]): this {
    this.check(sql);
    return super.exec(sql, ...rest);
  }

  override prepare(sql: string, ...rest: never[]): sqlite3.Statement {
    this.check(sql);
    return super.prepare(sql, ...rest);
  }

  private check(sql: string): void {
    if (this.admits && !this.admits()) throw new WriteOutsideUnit(sql);
  }
}

/**
 * The sqlite3 package as TypeORM's `driver` option, with one statement at a time. TypeORM calls `verbose`: that would
 * trace every statement.
 */
export const quietDriver = {
  ...sqlite3,
  Database: QueuedDatabase,
  verbose(): unknown {
    return this;
  },
};

/** The same with the guarded connection. */
export const guardedDriver = { ...quietDriver, Database: GuardedDatabase };
