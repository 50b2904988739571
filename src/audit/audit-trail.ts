import { Injectable } from '@nestjs/common';
import { StoreReader } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import type { AuditAction, AuditDetail, AuditOutcome } from './audit-actions.js';

/** One line of the record. */
export interface AuditEvent {
  id: string;
  /** Epoch milliseconds. */
  at: number;
  actor: string | null;
  action: string;
  object: string | null;
  outcome: AuditOutcome;
  count: number;
  requestId: string | null;
  address: string | null;
  detail: AuditDetail | null;
}

export interface AuditPageRequest {
  /** 1..1000 */
  limit: number;
  order: 'asc' | 'desc';
  /** Id of the event behind which the page begins. */
  after: string | null;
  /** Only these; null: all. */
  actions: AuditAction[] | null;
}

interface AuditRow extends Omit<AuditEvent, 'requestId' | 'detail'> {
  position: number;
  request_id: string | null;
  detail: string | null;
}

/** Reads the record in pages, by position: what is added meanwhile shifts nothing. */
@Injectable()
export class AuditTrail {
  constructor(private readonly reader: StoreReader) {}

  /** Throws invalid_cursor when `after` is no event. */
  async page({ limit, order, after, actions }: AuditPageRequest): Promise<{ events: AuditEvent[]; hasMore: boolean }> {
    const conditions: [sql: string, parameter: unknown][] = [];
    if (actions !== null) conditions.push(['action in (select value from json_each(?))', JSON.stringify(actions)]);
    if (after !== null) {
      conditions.push([order === 'asc' ? 'position > ?' : 'position < ?', await this.positionOf(after)]);
    }
    const where = ['true', ...conditions.map(([sql]) => sql)].join(' and ');
    const rows = await this.reader.query<AuditRow>(
      `select * from audit_events where ${where} order by position ${order} limit ?`,
      [...conditions.map(([, parameter]) => parameter), limit + 1],
    );
    return { events: rows.slice(0, limit).map(eventOf), hasMore: rows.length > limit };
  }

  private async positionOf(id: string): Promise<number> {
    const [row] = await this.reader.query<{ position: number }>('select position from audit_events where id = ?', [id]);
    if (row) return row.position;
    throw new DomainError('invalid_cursor', "'after' must be the id of an audit event.", { param: 'after' });
  }
}

function eventOf({ position: _, request_id: requestId, detail, ...row }: AuditRow): AuditEvent {
  return { ...row, requestId, detail: detail === null ? null : (JSON.parse(detail) as AuditDetail) };
}
