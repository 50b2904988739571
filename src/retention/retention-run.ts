/** Why a run began. */
export type RetentionTrigger = 'start' | 'schedule' | 'operator';

/** What a run did to one kind. */
export interface KindOutcome {
  kind: string;
  /** Objects that are gone. */
  removed: number;
  /** Rows that are gone, those of dependent tables counted. */
  rows: number;
  batches: number;
  /** The kind's own rule failed; the next run tries it again. */
  failed: boolean;
}

/** One run of retention. Times are epoch milliseconds. */
export interface RetentionRun {
  trigger: RetentionTrigger;
  startedAt: number;
  finishedAt: number;
  /** Expiry was held back (WIRE B6, Clock): only what had expired before was removed. */
  held: boolean;
  /** The service stopped meanwhile; the next start goes on. */
  interrupted: boolean;
  kinds: KindOutcome[];
  /** Pages given back to the disk. */
  freedPages: number;
}
