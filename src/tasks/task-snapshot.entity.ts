import { Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';

/** What a handler needs to go on after a restart; append-only, opaque to the tasks module. */
@Entity('task_snapshots')
@Index('task_snapshots_task', ['taskId', 'position'])
export class TaskSnapshotEntity {
  @PrimaryGeneratedColumn('increment', { type: 'integer', name: 'position' })
  position: number;

  @Column({ type: 'text', name: 'task_id' })
  @ForeignKey('TaskEntity', 'id', { name: 'task_snapshots_task', onDelete: 'CASCADE' })
  taskId: string;

  /** The start it belongs to; rows of an earlier start are history. */
  @Column({ type: 'integer', name: 'start_count' })
  startCount: number;

  /** The task's last event in the same transaction. */
  @Column({ type: 'integer', name: 'last_sequence_number' })
  lastSequenceNumber: number;

  @Column({ type: 'text', name: 'payload' })
  payload: string;
}
