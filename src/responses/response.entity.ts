import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A stored response: the latest snapshot that clients see, and what is needed to generate it. */
@Entity('responses')
@Index('responses_client_created', ['clientId', 'createdAt'])
@Index('responses_finished', ['finishedAt'])
@Index('responses_previous', ['previousResponseId', 'finishedAt'], { where: `"previous_response_id" IS NOT NULL` })
@Check(
  'responses_status_known',
  `"status" IN ('queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled')`,
)
export class ResponseEntity {
  @PrimaryColumn({ type: 'text', name: 'id' })
  id: string;

  @Column({ type: 'text', name: 'client_id' })
  @ForeignKey('ClientEntity', { name: 'responses_client' })
  clientId: string;

  @Column({ type: 'text', name: 'model' })
  model: string;

  @Column({ type: 'text', name: 'status' })
  status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

  /** Epoch milliseconds, as the times below. */
  @Column({ type: 'integer', name: 'created_at' })
  createdAt: number;

  /** Set only where the answer came to its own end: completed. */
  @Column({ type: 'integer', name: 'completed_at', nullable: true })
  completedAt: number | null;

  /** Any terminal status. */
  @Column({ type: 'integer', name: 'finished_at', nullable: true })
  finishedAt: number | null;

  /** JSON of the whole Response object. */
  @Column({ type: 'text', name: 'body' })
  body: string;

  /** Number of the event whose snapshot the body is. */
  @Column({ type: 'integer', name: 'body_sequence_number' })
  bodySequenceNumber: number;

  /** JSON array of input items. */
  @Column({ type: 'text', name: 'input' })
  input: string;

  /** JSON of prompt ids, seed and parameters; null once terminal. */
  @Column({ type: 'text', name: 'generation', nullable: true })
  generation: string | null;

  @Column({ type: 'text', name: 'previous_response_id', nullable: true })
  previousResponseId: string | null;
}
