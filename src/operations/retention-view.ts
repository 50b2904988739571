import type { KindOutcome, KindSurvey, RetentionReport, RetentionRun } from '../retention/index.js';

/** A kind of data in the report. Times are unix seconds; `bytes` is an estimate. */
export interface RetentionKindObject {
  kind: string;
  rule: { keep_seconds: number; counts_from: string };
  rows: number;
  oldest_at: number | null;
  due: number;
  blocked: { reason: string; rows: number }[];
  bytes: number;
  last_run: ({ finished_at: number } & Removal) | null;
}

/** What a run did to one kind. `rows` counts dependent tables as well; null, as `batches`, in a dry run. */
interface Removal {
  removed: number;
  rows: number | null;
  batches: number | null;
  /** The rule failed; the next run tries again. */
  failed: boolean;
}

/** GET /v1/service/retention (OPERATE 5.7). */
export interface RetentionObject {
  object: 'service.retention';
  running: boolean;
  /** Running time for which nothing expires; 0 almost always. */
  held_seconds: number;
  next_run_at: number | null;
  file: { bytes: number; free_bytes: number };
  data: RetentionKindObject[];
}

/** POST /v1/service/retention/run. A dry run tells what would be removed. */
export interface RetentionRunObject {
  object: 'service.retention.run';
  dry_run: boolean;
  started_at: number;
  finished_at: number;
  /** Expiry is held back, so nothing new was due. */
  held: boolean;
  /** The service stopped meanwhile; the next start goes on. */
  interrupted: boolean;
  freed_pages: number;
  data: ({ kind: string } & Removal)[];
}

export function retentionToWire(
  report: RetentionReport,
  around: { running: boolean; nextRunAt: number | null; lastRun: RetentionRun | null },
): RetentionObject {
  return {
    object: 'service.retention',
    running: around.running,
    held_seconds: Math.ceil(report.heldMs / 1000),
    next_run_at: secondsOrNull(around.nextRunAt),
    file: { bytes: report.file.bytes, free_bytes: report.file.freeBytes },
    data: report.kinds.map((survey) => kindToWire(survey, around.lastRun)),
  };
}

export function runToWire(run: RetentionRun): RetentionRunObject {
  return {
    object: 'service.retention.run',
    dry_run: false,
    started_at: seconds(run.startedAt),
    finished_at: seconds(run.finishedAt),
    held: run.held,
    interrupted: run.interrupted,
    freed_pages: run.freedPages,
    data: run.kinds.map((outcome) => ({ kind: outcome.kind, ...removal(outcome) })),
  };
}

/** What a run would have done at this time. */
export function dryRunToWire({ kinds, heldMs }: RetentionReport, now: number): RetentionRunObject {
  return {
    object: 'service.retention.run',
    dry_run: true,
    started_at: seconds(now),
    finished_at: seconds(now),
    held: heldMs > 0,
    interrupted: false,
    freed_pages: 0,
    data: kinds.map(({ kind, due }) => ({ kind, removed: due, rows: null, batches: null, failed: false })),
  };
}

function kindToWire(survey: KindSurvey, lastRun: RetentionRun | null): RetentionKindObject {
  const last = lastRun?.kinds.find(({ kind }) => kind === survey.kind);
  return {
    kind: survey.kind,
    rule: { keep_seconds: survey.keepSeconds, counts_from: survey.countsFrom },
    rows: survey.rows,
    oldest_at: secondsOrNull(survey.oldestAt),
    due: survey.due,
    blocked: survey.blocked,
    bytes: survey.bytes,
    last_run: lastRun && last ? { finished_at: seconds(lastRun.finishedAt), ...removal(last) } : null,
  };
}

function removal({ removed, rows, batches, failed }: KindOutcome): Removal {
  return { removed, rows, batches, failed };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function secondsOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : seconds(milliseconds);
}
