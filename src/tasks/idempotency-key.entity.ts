import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A client's key for one request, and what its repeat is answered with (WIRE B6). */
@Entity('idempotency_keys')
@Index('idempotency_keys_task', ['taskId'])
@Index('idempotency_keys_expires', ['expiresAt'])
export class IdempotencyKeyEntity {
  @PrimaryColumn({ type: 'text', name: 'client_id' })
  @ForeignKey('ClientEntity', 'id', { name: 'idempotency_keys_client' })
  clientId: string;

  @PrimaryColumn({ type: 'text', name: 'method' })
  method: string;

  @PrimaryColumn({ type: 'text', name: 'route' })
  route: string;

  @PrimaryColumn({ type: 'text', name: 'key' })
  key: string;

  /** SHA-256 of the canonical request. */
  @Column({ type: 'text', name: 'fingerprint' })
  fingerprint: string;

  /** A key bound to a task stores no answer: it is derived from the task. */
  @Column({ type: 'text', name: 'task_id', nullable: true })
  @ForeignKey('TaskEntity', 'id', { name: 'idempotency_keys_task', onDelete: 'CASCADE' })
  taskId: string | null;

  @Column({ type: 'integer', name: 'status', nullable: true })
  status: number | null;

  @Column({ type: 'text', name: 'location', nullable: true })
  location: string | null;

  @Column({ type: 'text', name: 'body', nullable: true })
  body: string | null;

  /** Epoch milliseconds, as below. */
  @Column({ type: 'integer', name: 'created_at' })
  createdAt: number;

  /** Beyond any time while the task is unfinished, and where keys are kept for ever. */
  @Column({ type: 'integer', name: 'expires_at' })
  expiresAt: number;
}
