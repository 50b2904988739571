import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** A model the service knows. Its files stay where they are; only metadata and digest are stored. */
@Entity('models')
@Check('models_type_known', `"type" IN ('llm', 'embedding', 'rerank')`)
@Check('models_state_known', `"state" IN ('verifying', 'available', 'missing', 'error')`)
export class ModelEntity {
  @PrimaryColumn({ type: 'text', name: 'id' })
  id: string;

  @Column({ type: 'text', name: 'type' })
  type: 'llm' | 'embedding' | 'rerank';

  @Column({ type: 'text', name: 'directory' })
  directory: string;

  /** Path of the graph below the directory. */
  @Column({ type: 'text', name: 'graph_file' })
  graphFile: string;

  @Column({ type: 'text', name: 'layout' })
  layout: string;

  @Column({ type: 'text', name: 'dtype', nullable: true })
  dtype: string | null;

  @Column({ type: 'text', name: 'activations', nullable: true })
  activations: string | null;

  /** NULL: by the settings. */
  @Column({ type: 'text', name: 'execution_provider', nullable: true })
  executionProvider: string | null;

  @Column({ type: 'integer', name: 'device_id', nullable: true })
  deviceId: number | null;

  /** `sha256:…` over the files that the loader reads (WIRE B2); null until computed. */
  @Column({ type: 'text', name: 'digest', nullable: true })
  digest: string | null;

  @Column({ type: 'integer', name: 'size_bytes', nullable: true })
  sizeBytes: number | null;

  /** What lies on disk; loading and loaded are facts of the process and not stored. */
  @Column({ type: 'text', name: 'state' })
  state: 'verifying' | 'available' | 'missing' | 'error';

  /** JSON error body. */
  @Column({ type: 'text', name: 'error', nullable: true })
  error: string | null;

  @Column({ type: 'integer', name: 'context_length', nullable: true })
  contextLength: number | null;

  @Column({ type: 'integer', name: 'embedding_dimensions', nullable: true })
  embeddingDimensions: number | null;

  /** JSON array of strings. */
  @Column({ type: 'text', name: 'capabilities' })
  capabilities: string;

  /** JSON array of strings. */
  @Column({ type: 'text', name: 'aliases' })
  aliases: string;

  /** 1: never unloaded to make room. */
  @Column({ type: 'integer', name: 'pinned' })
  pinned: number;

  @Column({ type: 'integer', name: 'keep_alive_seconds', nullable: true })
  keepAliveSeconds: number | null;

  @Column({ type: 'text', name: 'owned_by' })
  ownedBy: string;

  /** 1: shipped with the service. */
  @Column({ type: 'integer', name: 'embedded' })
  embedded: number;

  /** Epoch milliseconds, as the times below. */
  @Column({ type: 'integer', name: 'created_at' })
  createdAt: number;

  @Column({ type: 'integer', name: 'updated_at' })
  updatedAt: number;

  @Column({ type: 'integer', name: 'quarantined_at', nullable: true })
  quarantinedAt: number | null;

  /** What the weights take in memory, estimated from the sizes of their files. */
  @Column({ type: 'integer', name: 'weights_memory_bytes', nullable: true })
  weightsMemoryBytes: number | null;

  /** Memory that one token of one sequence takes in the cache; 0: there is no cache. */
  @Column({ type: 'integer', name: 'kv_token_bytes', nullable: true })
  kvTokenBytes: number | null;
}
