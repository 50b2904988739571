import type { StoreReader, Tx } from '../database/index.js';
import {
  expiredBefore,
  type RetentionBatch,
  type RetentionRule,
  type RetentionStep,
  type RetentionSurvey,
} from './retention-rule.js';

/** A table whose rows go by a time of their own. The names become part of statements: never take them from a request. */
export interface TimedTable {
  name: string;
  /** Column that names a row. */
  key: string;
  /** About what a row takes on disk. */
  rowBytes: number;
}

/** Removes the rows of one table that nothing depends on, oldest first, `keepSeconds` after the time in `countsFrom`. */
export abstract class TimedRows implements RetentionRule {
  abstract readonly kind: string;
  abstract readonly keepSeconds: number;
  /** An indexed column: epoch milliseconds. */
  abstract readonly countsFrom: string;
  protected abstract readonly table: TimedTable;

  async step(tx: Tx, { now, limit }: RetentionBatch): Promise<RetentionStep> {
    const { name, key } = this.table;
    const { affected } = await tx.execute(
      `DELETE FROM ${name} WHERE ${key} IN (
         SELECT ${key} FROM ${name} WHERE ${this.countsFrom} <= ? ORDER BY ${this.countsFrom} LIMIT ?)`,
      [expiredBefore(now, this.keepSeconds), limit],
    );
    return { removed: affected, rows: affected, next: affected === limit ? 'more' : null };
  }

  /** Three short statements, each on the index of the time. */
  async survey(reader: StoreReader, now: number): Promise<RetentionSurvey> {
    const { name, rowBytes } = this.table;
    const figure = async (what: string, ...parameters: unknown[]): Promise<number | null> =>
      (await reader.query<{ figure: number | null }>(`select ${what}`, parameters))[0]?.figure ?? null;
    const rows = (await figure(`count(*) as figure from ${name}`)) ?? 0;
    const before = expiredBefore(now, this.keepSeconds);
    return {
      rows,
      oldestAt: await figure(`min(${this.countsFrom}) as figure from ${name}`),
      due: (await figure(`count(*) as figure from ${name} where ${this.countsFrom} <= ?`, before)) ?? 0,
      blocked: [],
      bytes: rows * rowBytes,
    };
  }
}
