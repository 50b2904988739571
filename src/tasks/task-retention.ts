import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import type { StoreReader, Tx } from '../database/index.js';
import {
  expiredBefore,
  RetentionRules,
  type RetentionBatch,
  type RetentionRule,
  type RetentionStep,
  type RetentionSurvey,
} from '../retention/index.js';
import { surveyTasks } from './task-survey.js';

/** Tasks in the middle of their removal, at most. */
const MARKED_TASKS = 200;

/** Payload that goes in one batch, beside its bound in events: a few of those may hold whole long answers. */
const BATCH_BYTES = 8_388_608;

/**
 * Removes ended tasks with their events and snapshots `retentionTasksSeconds` after their end (R4), never an unfinished
 * one (R5), which the database would refuse as well. A task is marked first: from then on its log is answered with 410.
 * Then the logs of the marked ones go, bounded by rows and not by tasks, then the tasks. What a kill left marked is
 * finished by the next run, whatever the time is then.
 */
@Injectable()
export class TaskRetention implements RetentionRule, OnModuleInit {
  readonly kind = 'tasks';
  readonly countsFrom = 'finished_at';

  constructor(
    private readonly rules: RetentionRules,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.rules.register(this);
  }

  get keepSeconds(): number {
    return this.config.retentionTasksSeconds;
  }

  survey(reader: StoreReader, now: number): Promise<RetentionSurvey> {
    return surveyTasks(reader, expiredBefore(now, this.keepSeconds));
  }

  async step(tx: Tx, { now, limit }: RetentionBatch): Promise<RetentionStep> {
    const logRows = (await removeEvents(tx, limit)) + (await removeSnapshots(tx, limit));
    const removed = await removeEmptyTasks(tx);
    if (logRows + removed > 0) return { removed, rows: logRows + removed, next: 'removed' };
    const marked = await markExpired(tx, now, expiredBefore(now, this.keepSeconds));
    return { removed: 0, rows: 0, next: marked > 0 ? 'marked' : null };
  }
}

/** Only what has ended has a `finished_at` (CHECK tasks_terminal_is_finished). */
async function markExpired(tx: Tx, now: number, before: number): Promise<number> {
  const { affected } = await tx.execute(
    `UPDATE tasks SET events_expired_at = ? WHERE position IN (
       SELECT position FROM tasks WHERE finished_at <= ? AND events_expired_at IS NULL ORDER BY finished_at LIMIT ?)`,
    [now, before, MARKED_TASKS],
  );
  return affected;
}

/** The oldest events of each log first, so that what is left of one never looks like its beginning. */
async function removeEvents(tx: Tx, limit: number): Promise<number> {
  const { affected } = await tx.execute(
    `DELETE FROM task_events WHERE (task_id, sequence_number) IN (
       SELECT task_id, sequence_number FROM (
         SELECT task_id, sequence_number, size, sum(size) OVER (ROWS UNBOUNDED PRECEDING) AS total FROM (
           SELECT e.task_id, e.sequence_number, octet_length(e.payload) AS size
           FROM tasks t JOIN task_events e ON e.task_id = t.id WHERE t.events_expired_at IS NOT NULL
           ORDER BY t.events_expired_at, t.position, e.sequence_number LIMIT ?))
       WHERE total <= ? OR total = size)`,
    [limit, BATCH_BYTES],
  );
  return affected;
}

async function removeSnapshots(tx: Tx, limit: number): Promise<number> {
  const { affected } = await tx.execute(
    `DELETE FROM task_snapshots WHERE position IN (
       SELECT s.position FROM tasks t JOIN task_snapshots s ON s.task_id = t.id
       WHERE t.events_expired_at IS NOT NULL ORDER BY t.events_expired_at, t.position, s.position LIMIT ?)`,
    [limit],
  );
  return affected;
}

async function removeEmptyTasks(tx: Tx): Promise<number> {
  const { affected } = await tx.execute(
    `DELETE FROM tasks WHERE events_expired_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM task_events e WHERE e.task_id = tasks.id)
       AND NOT EXISTS (SELECT 1 FROM task_snapshots s WHERE s.task_id = tasks.id)`,
  );
  return affected;
}
