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

/** A response holds its whole input and output: so many go in one batch at most. */
const LARGEST_PAGE = 200;

/** Responses measured for the estimate of the size. */
const SAMPLE = 200;
const ROW_BYTES = 400;

type Cursor = [finishedAt: number, place: number];

interface Candidate {
  /** SQLite's own number of the row: the order among those that ended at the same time. */
  place: number;
  id: string;
  finished_at: number;
  previous_response_id: string | null;
  /** 1: a response outside of the page, so a kept one, continues this one. */
  used: number;
}

/**
 * Removes responses `retentionResponsesSeconds` after their end, but not while a kept one descends from them: a chat
 * that goes on keeps its whole history (WIRE B6). They may outlive their task and its events.
 */
@Injectable()
export class ResponseRetention implements RetentionRule, OnModuleInit {
  readonly kind = 'responses';
  readonly countsFrom = 'finished_at';

  constructor(
    private readonly rules: RetentionRules,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.rules.register(this);
  }

  get keepSeconds(): number {
    return this.config.retentionResponsesSeconds;
  }

  /**
   * From the youngest to the oldest: a response ends before one that continues it begins, so what descends from it has
   * been decided before, and one pass over the expired ones removes whole chains.
   */
  async step(tx: Tx, { now, limit, cursor }: RetentionBatch): Promise<RetentionStep> {
    const size = Math.min(limit, LARGEST_PAGE);
    const page = await nextPage(tx, expiredBefore(now, this.keepSeconds), size, cursor);
    const spared = sparedOf(page);
    const ids = page.filter(({ id }) => !spared.has(id)).map(({ id }) => id);
    const { affected } = await tx.execute('DELETE FROM responses WHERE id IN (SELECT value FROM json_each(?))', [
      JSON.stringify(ids),
    ]);
    const last = page.at(-1);
    const next = last && page.length === size ? JSON.stringify([last.finished_at, last.place] satisfies Cursor) : null;
    return { removed: affected, rows: affected, next };
  }

  /** Three short statements, each on an index or a sample. */
  async survey(reader: StoreReader, now: number): Promise<RetentionSurvey> {
    const before = expiredBefore(now, this.keepSeconds);
    const [all] = await reader.query<{ rows: number; oldest: number | null; expired: number }>(
      `select (select count(*) from responses) as rows, (select min(finished_at) from responses) as oldest,
         (select count(*) from responses where finished_at <= ?) as expired`,
      [before],
    );
    const [sample] = await reader.query<{ bytes: number | null }>(
      `select avg(? + octet_length(body) + octet_length(input) + coalesce(octet_length(generation), 0)) as bytes
       from (select * from responses limit ?)`,
      [ROW_BYTES, SAMPLE],
    );
    const [spared] = before === 0 ? [] : await reader.query<{ rows: number }>(SPARED, [before, before]);
    const { rows = 0, oldest = null, expired = 0 } = all ?? {};
    const inUse = spared?.rows ?? 0;
    return {
      rows,
      oldestAt: oldest,
      due: expired - inUse,
      blocked: [{ reason: 'in_use', rows: inUse }],
      bytes: Math.round(rows * (sample?.bytes ?? 0)),
    };
  }
}

/** Expired ones that a kept one descends from, over any number of generations. */
const SPARED = `
  with recursive ancestor(id) as (
    select previous_response_id from responses
    where previous_response_id is not null and (finished_at is null or finished_at > ?)
    union
    select r.previous_response_id from ancestor a join responses r on r.id = a.id
    where r.previous_response_id is not null)
  select count(*) as rows from ancestor a join responses r on r.id = a.id where r.finished_at <= ?`;

/** The next expired ones behind the cursor, from the youngest to the oldest. */
async function nextPage(tx: Tx, before: number, size: number, cursor: string | null): Promise<Candidate[]> {
  const last: Cursor = cursor === null ? [before, Number.MAX_SAFE_INTEGER] : (JSON.parse(cursor) as Cursor);
  return tx.query<Candidate>(
    `with page as (
       select rowid as place, id, finished_at, previous_response_id from responses
       where (finished_at, rowid) < (?, ?) order by finished_at desc, rowid desc limit ?)
     select p.*, exists (
       select 1 from responses r where r.previous_response_id = p.id and r.id not in (select id from page)) as used
     from page p`,
    [...last, size],
  );
}

/** The ids of the page that are used from outside of it, and all that these descend from. */
function sparedOf(page: Candidate[]): Set<string> {
  const byId = new Map(page.map((candidate) => [candidate.id, candidate]));
  const spared = new Set<string>();
  for (const { id, used } of page) {
    if (used === 0) continue;
    let ancestor = byId.get(id);
    while (ancestor && !spared.has(ancestor.id)) {
      spared.add(ancestor.id);
      ancestor = byId.get(ancestor.previous_response_id ?? '');
    }
  }
  return spared;
}
