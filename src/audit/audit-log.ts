import { Injectable } from '@nestjs/common';
import { newIdentifier, type Tx } from '../database/index.js';
import type { AuditAction, AuditDetail, AuditOutcome } from './audit-actions.js';
import type { Origin } from './origin.js';

export interface AuditEntry {
  action: AuditAction;
  /** Id of what it was done to. */
  object: string | null;
  origin: Origin;
  /** `done` unless it says otherwise. */
  outcome?: AuditOutcome;
  /** How often; once, if absent. */
  count?: number;
  detail?: AuditDetail;
}

/** The record of who did what: written in the unit of what it tells of, so that neither is there without the other. */
@Injectable()
export class AuditLog {
  async record(tx: Tx, { action, object, origin, outcome = 'done', count = 1, detail }: AuditEntry): Promise<void> {
    await tx.execute(
      `INSERT INTO audit_events (id, at, actor, action, object, outcome, count, request_id, address, detail)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        newIdentifier('audit'),
        Date.now(),
        origin.actor,
        action,
        object,
        outcome,
        count,
        origin.requestId,
        origin.address,
        detail === undefined ? null : JSON.stringify(detail),
      ],
    );
  }
}
