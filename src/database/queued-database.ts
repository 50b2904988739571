import sqlite3 from 'sqlite3';
import { StoreClosed } from './database.errors.js';

type Callback = (this: unknown, error: Error | null, rows?: unknown[]) => void;

/** What `all` and `run` take behind the statement's text; its last is the callback. */
type Arguments = unknown[];

interface Call {
  method: 'all' | 'run';
  sql: string;
  parameters: Arguments;
  callback: Callback;
}

/** What a statement hands to its callback. */
export interface Outcome<R> {
  rows: R[];
  /** Rows that it inserted, changed or deleted, triggers and cascades not counted. */
  affected: number;
}

/** Statements that stay prepared; the one that was used longest ago makes room. */
const MOST_PREPARED = 128;
/** A pragma may act when it is prepared, and definitions come once: neither is prepared for a second time. */
const REPEATED = /^\s*(?:select|with|insert|update|delete|begin|commit|rollback)\b/i;
/** A prepared statement keeps its parameters until its next use: characters of texts, bytes of buffers. */
const MOST_PARAMETER_LENGTH = 1_048_576;

const { Statement } = sqlite3 as unknown as {
  Statement: new (database: sqlite3.Database, sql: string, done: (error: Error | null) => void) => sqlite3.Statement;
};

/**
 * A connection to which one statement at a time is sent. Several would wait for each other on its mutex, each in a thread
 * of the pool, and so would the event loop itself wherever it needs the mutex. What is repeated is prepared once: that is
 * half of the way through the threads and most of the work of a short statement (STACK 3.1).
 */
export class QueuedDatabase extends sqlite3.Database {
  private readonly calls: Call[] = [];
  private busy = false;
  private closing: (() => void) | null = null;
  /** The one that was used longest ago first. */
  private readonly prepared = new Map<string, sqlite3.Statement>();

  override all(sql: string, ...rest: never[]): this {
    return this.enqueue('all', sql, rest);
  }

  override run(sql: string, ...rest: never[]): this {
    return this.enqueue('run', sql, rest);
  }

  /** Sends a statement; `run` does not look for rows. */
  send<R>(method: 'all' | 'run', sql: string, parameters: readonly unknown[]): Promise<Outcome<R>> {
    return new Promise((resolve, reject) => {
      const settle: Callback = function (error, rows) {
        if (error) reject(error);
        else resolve({ rows: (rows ?? []) as R[], affected: (this as { changes?: number }).changes ?? 0 });
      };
      const given = [[...parameters], settle] as never[];
      if (method === 'run') this.run(sql, ...given);
      else this.all(sql, ...given);
    });
  }

  /** After the statements that were sent before; later ones are refused. */
  override close(callback?: (error: Error | null) => void): void {
    this.closing = () => {
      for (const statement of this.prepared.values()) statement.finalize();
      this.prepared.clear();
      super.close(callback);
    };
    this.next();
  }

  private enqueue(method: Call['method'], sql: string, rest: Arguments): this {
    const last = rest.at(-1);
    const callback = typeof last === 'function' ? (last as Callback) : () => undefined;
    const parameters = typeof last === 'function' ? rest.slice(0, -1) : rest;
    if (this.closing) queueMicrotask(() => callback.call(this, new StoreClosed()));
    else this.calls.push({ method, sql, parameters, callback });
    this.next();
    return this;
  }

  private next(): void {
    if (this.busy) return;
    const call = this.calls.shift();
    if (!call && !this.closing) return;
    this.busy = true;
    if (call) this.perform(call);
    else this.closing!();
  }

  private perform({ method, sql, parameters, callback }: Call): void {
    const known = this.prepared.get(sql);
    const keeps = isShort(parameters) && (known !== undefined || isRepeated(sql, method));
    const end = (self: unknown, error: Error | null, rows?: unknown[]): void => {
      if (!keeps) statement.finalize();
      this.busy = false;
      // The next is on its way before anybody looks at these rows.
      this.next();
      callback.call(self, error, rows);
    };
    const prepared = (error: Error | null): void => {
      if (!error) return;
      this.prepared.delete(sql);
      end(this, error);
    };
    const statement = (keeps && known) || new Statement(this, sql, prepared);
    if (keeps) this.keep(sql, statement);
    const done: Callback = function (error, rows) {
      end(this, error, rows);
    };
    (statement[method] as (...given: unknown[]) => unknown).call(statement, ...parameters, done);
  }

  private keep(sql: string, statement: sqlite3.Statement): void {
    this.prepared.delete(sql);
    this.prepared.set(sql, statement);
    if (this.prepared.size <= MOST_PREPARED) return;
    const [oldest, unused] = [...this.prepared][0]!;
    this.prepared.delete(oldest);
    unused.finalize();
  }
}

/** `run` leaves a statement that gives rows where the first one is, and would hold it open. */
function isRepeated(sql: string, method: Call['method']): boolean {
  return REPEATED.test(sql) && !(method === 'run' && /\breturning\b/i.test(sql));
}

function isShort(parameters: Arguments): boolean {
  let length = 0;
  for (const each of parameters.flat()) if (typeof each === 'string' || Buffer.isBuffer(each)) length += each.length;
  return length <= MOST_PARAMETER_LENGTH;
}
