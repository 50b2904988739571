import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { AuditOutcome } from './audit-actions.js';

/** Something that was done to the service, or refused. Never changed; holds no token, no code and no content. */
@Entity('audit_events')
@Index('audit_events_id', ['id'], { unique: true })
@Index('audit_events_at', ['at'])
@Index('audit_events_action', ['action', 'position'])
export class AuditEventEntity {
  @PrimaryGeneratedColumn({ type: 'integer', name: 'position' })
  position: number;

  /** `audit_…` */
  @Column({ type: 'text', name: 'id' })
  id: string;

  /** Epoch milliseconds. */
  @Column({ type: 'integer', name: 'at' })
  at: number;

  /** Id of the client that did it; null where nobody was known. */
  @Column({ type: 'text', name: 'actor', nullable: true })
  actor: string | null;

  @Column({ type: 'text', name: 'action' })
  action: string;

  /** Id of what it was done to. */
  @Column({ type: 'text', name: 'object', nullable: true })
  object: string | null;

  @Column({ type: 'text', name: 'outcome' })
  outcome: AuditOutcome;

  /** How often, where a flood of the same is told in one row. */
  @Column({ type: 'integer', name: 'count' })
  count: number;

  @Column({ type: 'text', name: 'request_id', nullable: true })
  requestId: string | null;

  @Column({ type: 'text', name: 'address', nullable: true })
  address: string | null;

  /** JSON object of ids, names and scopes; null where the rest says it all. */
  @Column({ type: 'text', name: 'detail', nullable: true })
  detail: string | null;
}
