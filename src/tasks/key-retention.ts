import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import type { StoreReader, Tx } from '../database/index.js';
import {
  RetentionRules,
  type RetentionBatch,
  type RetentionRule,
  type RetentionStep,
  type RetentionSurvey,
} from '../retention/index.js';

/** A key outlives its task's end by so much: a client that was cut off at the end must still find its answer. */
const AFTER_END_MS = 3_600_000;

/** Whether the task of a key `k` is unfinished or ended after the time given. */
const TASK_HOLDS_KEY = `EXISTS (
  SELECT 1 FROM tasks t WHERE t.id = k.task_id AND (t.finished_at IS NULL OR t.finished_at > ?))`;

const SAMPLE = 500;
const ROW_BYTES = 300;

type KeyCursor = [expiresAt: number, client: string, method: string, route: string, key: string];

const BEFORE_ALL: KeyCursor = [-1, '', '', '', ''];

interface KeyRow {
  expires_at: number;
  client_id: string;
  method: string;
  route: string;
  key: string;
  held: number;
}

/**
 * Removes idempotency keys at the later of their `expires_at` and an hour after their task's end (WIRE B6). They go with
 * their task at the latest, by the foreign key.
 */
@Injectable()
export class KeyRetention implements RetentionRule, OnModuleInit {
  readonly kind = 'idempotency_keys';
  readonly countsFrom = 'created_at';

  constructor(
    private readonly rules: RetentionRules,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.rules.register(this);
  }

  get keepSeconds(): number {
    return this.config.retentionIdempotencySeconds;
  }

  /** Pages by time and key, so that those still held are looked at once in a run. */
  async step(tx: Tx, { now, limit, cursor }: RetentionBatch): Promise<RetentionStep> {
    const after = cursor === null ? BEFORE_ALL : (JSON.parse(cursor) as KeyCursor);
    const page = await tx.query<KeyRow>(
      `select expires_at, client_id, method, route, key, ${TASK_HOLDS_KEY} as held from idempotency_keys k
       where expires_at <= ? and (expires_at, client_id, method, route, key) > (?, ?, ?, ?, ?)
       order by expires_at, client_id, method, route, key limit ?`,
      [now - AFTER_END_MS, this.expired(now), ...after, limit],
    );
    const keys = page.filter(({ held }) => held === 0).map((row) => [row.client_id, row.method, row.route, row.key]);
    const { affected } = await tx.execute(
      `DELETE FROM idempotency_keys WHERE (client_id, method, route, key) IN (
         SELECT value->>0, value->>1, value->>2, value->>3 FROM json_each(?))`,
      [JSON.stringify(keys)],
    );
    const last = page.at(-1);
    const full = last !== undefined && page.length === limit;
    return { removed: affected, rows: affected, next: full ? cursorOf(last) : null };
  }

  /** Three short statements, each on an index or a sample. */
  async survey(reader: StoreReader, now: number): Promise<RetentionSurvey> {
    const [all] = await reader.query<{ rows: number; oldest: number | null }>(
      `select (select count(*) from idempotency_keys) as rows,
         (select created_at from idempotency_keys order by expires_at limit 1) as oldest`,
    );
    const [due] = await reader.query<{ rows: number; held: number | null }>(
      `select count(*) as rows, sum(${TASK_HOLDS_KEY}) as held from idempotency_keys k where expires_at <= ?`,
      [now - AFTER_END_MS, this.expired(now)],
    );
    const [sample] = await reader.query<{ bytes: number | null }>(
      `select avg(? + octet_length(key) + coalesce(octet_length(body), 0)) as bytes
       from (select key, body from idempotency_keys limit ?)`,
      [ROW_BYTES, SAMPLE],
    );
    const rows = all?.rows ?? 0;
    const held = due?.held ?? 0;
    return {
      rows,
      oldestAt: all?.oldest ?? null,
      due: (due?.rows ?? 0) - held,
      blocked: [{ reason: 'task_unfinished_or_just_ended', rows: held }],
      bytes: Math.round(rows * (sample?.bytes ?? 0)),
    };
  }

  private expired(now: number): number {
    return this.keepSeconds === 0 ? 0 : now;
  }
}

function cursorOf({ expires_at: expiresAt, client_id: client, method, route, key }: KeyRow): string {
  return JSON.stringify([expiresAt, client, method, route, key] satisfies KeyCursor);
}
