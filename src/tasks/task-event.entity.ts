import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** One line of a task's log: immutable, numbered without gaps (WIRE B5). */
@Entity('task_events')
export class TaskEventEntity {
  @PrimaryColumn({ type: 'text', name: 'task_id' })
  @ForeignKey('TaskEntity', 'id', { name: 'task_events_task', onDelete: 'CASCADE' })
  taskId: string;

  @PrimaryColumn({ type: 'integer', name: 'sequence_number' })
  sequenceNumber: number;

  @Column({ type: 'text', name: 'type' })
  type: string;

  /** The event's JSON, sent as it is. */
  @Column({ type: 'text', name: 'payload' })
  payload: string;

  /** Epoch milliseconds. */
  @Column({ type: 'integer', name: 'created_at' })
  createdAt: number;
}
