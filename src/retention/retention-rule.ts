import type { StoreReader, Tx } from '../database/index.js';

/** What a rule finds in the store; for the report and for a dry run. */
export interface RetentionSurvey {
  /** Objects of this kind, whatever their age. */
  rows: number;
  /** Epoch milliseconds of the oldest that has begun to age; null when none has. */
  oldestAt: number | null;
  /** Past their time: what a run would remove now. */
  due: number;
  /** Past their time as well, and kept all the same. */
  blocked: { reason: string; rows: number }[];
  /** Rough size on disk, of all of them. */
  bytes: number;
}

/** One batch of a run. */
export interface RetentionBatch {
  /** Time of the run by ExpiryClock, the same for all its batches; 0 while nothing may expire. */
  now: number;
  /** Most rows to remove, those of all tables together. */
  limit: number;
  /** What the batch before gave as `next`; null in the first one of a run. */
  cursor: string | null;
}

export interface RetentionStep {
  /** Objects of this kind that are gone for good. */
  removed: number;
  /** Rows removed, those of dependent tables counted. */
  rows: number;
  /** Where the next batch goes on, opaque to the runner; null: nothing is left for this run. */
  next: string | null;
}

/**
 * How long one kind of data is kept, and how it goes (R4). Registered with RetentionRules by the module that owns the
 * tables; an extension does the same for its own.
 */
export interface RetentionRule {
  /** Unique; what the report calls it, e.g. `tasks`. */
  readonly kind: string;
  /** 0 keeps for ever. */
  readonly keepSeconds: number;
  /** What the time counts from, in the words of the wire: `finished_at`. */
  readonly countsFrom: string;
  /** Reads only, in short statements: readers of streams wait for them. */
  survey(reader: StoreReader, now: number): Promise<RetentionSurvey>;
  /**
   * Removes one small batch inside the unit. Database calls only. May be killed between any two batches and must then
   * find by itself what is left to do.
   */
  step(tx: Tx, batch: RetentionBatch): Promise<RetentionStep>;
}

/** What ended at or before this time (epoch milliseconds) has expired; 0, when nothing has. */
export function expiredBefore(now: number, keepSeconds: number): number {
  return keepSeconds === 0 ? 0 : Math.max(0, now - keepSeconds * 1000);
}
