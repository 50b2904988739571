import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { OnRestart, TaskStatus } from './task-transitions.js';

/** One accepted piece of work (WIRE B4). Only the lifecycle service writes `status`. */
@Entity('tasks')
@Index('tasks_id', ['id'], { unique: true })
@Index('tasks_response', ['responseId'], { unique: true })
@Index('tasks_queued', ['type', 'model', 'position'], { where: `"status" = 'queued'` })
@Index('tasks_queued_of_client', ['type', 'model', 'clientId', 'position'], { where: `"status" = 'queued'` })
@Index('tasks_unowned', ['type', 'model', 'position'], { where: `"status" = 'running' AND "owner" IS NULL` })
@Index('tasks_suspect', ['type', 'model', 'position'], { where: `"suspect" > 0 AND "finished_at" IS NULL` })
@Index('tasks_owned', ['status'], { where: `"status" IN ('loading', 'running', 'cancelling')` })
@Index('tasks_client', ['clientId', 'position'])
@Index('tasks_expired', ['eventsExpiredAt'], { where: `"events_expired_at" IS NOT NULL` })
@Index('tasks_finished', ['finishedAt'], { where: `"finished_at" IS NOT NULL` })
@Check(
  'tasks_status_known',
  `"status" IN ('queued', 'loading', 'running', 'cancelling', 'completed', 'failed', 'cancelled')`,
)
@Check('tasks_on_restart_known', `"on_restart" IN ('fail', 'retry', 'resume')`)
@Check('tasks_terminal_is_finished', `("status" IN ('completed', 'failed', 'cancelled')) = ("finished_at" IS NOT NULL)`)
@Check('tasks_owned_while_held', `"owner" IS NULL OR "status" IN ('loading', 'running', 'cancelling')`)
export class TaskEntity {
  /** Grows with every task and is never used again: the order of queue and lists. */
  @PrimaryGeneratedColumn('increment', { type: 'integer', name: 'position' })
  position: number;

  @Column({ type: 'text', name: 'id' })
  id: string;

  @Column({ type: 'text', name: 'type' })
  type: string;

  @Column({ type: 'text', name: 'client_id' })
  @ForeignKey('ClientEntity', { name: 'tasks_client' })
  clientId: string;

  @Column({ type: 'text', name: 'response_id', nullable: true })
  responseId: string | null;

  @Column({ type: 'text', name: 'model', nullable: true })
  model: string | null;

  @Column({ type: 'text', name: 'status' })
  status: TaskStatus;

  @Column({ type: 'text', name: 'on_restart' })
  onRestart: OnRestart;

  @Column({ type: 'integer', name: 'background' })
  background: number;

  @Column({ type: 'integer', name: 'attempt' })
  attempt: number;

  @Column({ type: 'integer', name: 'interruptions' })
  interruptions: number;

  @Column({ type: 'integer', name: 'max_interruptions' })
  maxInterruptions: number;

  /** Times the output was begun anew from nothing. */
  @Column({ type: 'integer', name: 'start_count' })
  startCount: number;

  /** Incarnation of the runner that works on it. */
  @Column({ type: 'text', name: 'owner', nullable: true })
  owner: string | null;

  /** Suspicion: above 0 it runs alone until it has made progress (WIRE B6). */
  @Column({ type: 'integer', name: 'suspect' })
  suspect: number;

  @Column({ type: 'integer', name: 'last_sequence_number' })
  lastSequenceNumber: number;

  /** JSON, as result, error and metadata. */
  @Column({ type: 'text', name: 'input', nullable: true })
  input: string | null;

  @Column({ type: 'text', name: 'result', nullable: true })
  result: string | null;

  @Column({ type: 'text', name: 'error', nullable: true })
  error: string | null;

  @Column({ type: 'text', name: 'metadata' })
  metadata: string;

  /** W3C traceparent of the request that made it. */
  @Column({ type: 'text', name: 'trace_parent', nullable: true })
  traceParent: string | null;

  /** Epoch milliseconds, as the times below. */
  @Column({ type: 'integer', name: 'created_at' })
  createdAt: number;

  @Column({ type: 'integer', name: 'updated_at' })
  updatedAt: number;

  @Column({ type: 'integer', name: 'started_at', nullable: true })
  startedAt: number | null;

  @Column({ type: 'integer', name: 'finished_at', nullable: true })
  finishedAt: number | null;

  @Column({ type: 'integer', name: 'cancel_requested_at', nullable: true })
  cancelRequestedAt: number | null;

  /** From then its events are answered with 410 while retention removes them. */
  @Column({ type: 'integer', name: 'events_expired_at', nullable: true })
  eventsExpiredAt: number | null;
}
