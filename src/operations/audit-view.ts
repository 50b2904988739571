import type { AuditDetail, AuditEvent } from '../audit/index.js';

/** One line of GET /v1/audit. */
export interface AuditEventObject {
  id: string;
  object: 'audit.event';
  /** Unix seconds. */
  created_at: number;
  /** Id of the client that did it; null where nobody was known. */
  actor: string | null;
  action: string;
  /** Id of what it was done to. */
  target: string | null;
  outcome: string;
  /** More than 1 where a flood of the same is told in one line. */
  count: number;
  request_id: string | null;
  address: string | null;
  detail: AuditDetail | null;
}

export function auditToWire({ at, object: target, requestId, ...event }: AuditEvent): AuditEventObject {
  return {
    id: event.id,
    object: 'audit.event',
    created_at: Math.floor(at / 1000),
    actor: event.actor,
    action: event.action,
    target,
    outcome: event.outcome,
    count: event.count,
    request_id: requestId,
    address: event.address,
    detail: event.detail,
  };
}
