import type { Activations, ExecutionProvider } from '../inference/index.js';
import type { FolderToInspect } from './inspect-folder.js';

export const MODEL_TYPES = ['llm', 'embedding', 'rerank'] as const;
export type ModelType = (typeof MODEL_TYPES)[number];

/** What is stored about a model's files; loading and loaded are live and belong to ModelResidency (WIRE B2). */
export const MODEL_STATES = ['verifying', 'available', 'missing', 'error'] as const;
export type ModelState = (typeof MODEL_STATES)[number];

/** Why a model cannot be used, as it stands in `lmsp.error`. */
export interface ModelFault {
  code: 'model_digest_mismatch' | 'model_unsupported' | 'model_file_missing';
  message: string;
}

/** A model as the catalogue knows it: one row of `models`. Times are epoch milliseconds. */
export interface ModelRecord extends FolderToInspect {
  id: string;
  type: ModelType;
  state: ModelState;
  error: ModelFault | null;
  /** `sha256:…`; null until its files were verified once. */
  digest: string | null;
  sizeBytes: number | null;
  /** How activations are computed (ENGINE 2.9); null, here and in the next two: by the settings. */
  activations: Activations | null;
  executionProvider: ExecutionProvider | null;
  deviceId: number | null;
  /** Tokens. */
  contextLength: number | null;
  embeddingDimensions: number | null;
  capabilities: string[];
  aliases: string[];
  ownedBy: string;
  /** Shipped with the package: a new version of the package may bring new files. */
  embedded: boolean;
  createdAt: number;
  /** Set: its process died again and again, and nothing is loaded until a person says so (WIRE B6). */
  quarantinedAt: number | null;
  /** Never unloaded to make room, nor for being idle; loaded soon after the start. */
  pinned: boolean;
  /** How long it stays loaded when nobody uses it; -1: for ever; null: as the service says. */
  keepAliveSeconds: number | null;
  /** What the weights take in memory, estimated; null until its files were read once. */
  weightsMemoryBytes: number | null;
  /** What one token of one sequence takes in the cache; 0: there is no cache. */
  kvTokenBytes: number | null;
}

/** The columns of `models` that this module reads, as SQLite returns them. */
export interface ModelRow {
  id: string;
  type: ModelType;
  directory: string;
  graph_file: string;
  activations: Activations | null;
  execution_provider: ExecutionProvider | null;
  device_id: number | null;
  digest: string | null;
  size_bytes: number | null;
  state: ModelState;
  error: string | null;
  context_length: number | null;
  embedding_dimensions: number | null;
  capabilities: string;
  aliases: string;
  owned_by: string;
  embedded: number;
  created_at: number;
  quarantined_at: number | null;
  pinned: number;
  keep_alive_seconds: number | null;
  weights_memory_bytes: number | null;
  kv_token_bytes: number | null;
}

export function recordFromRow(row: ModelRow): ModelRecord {
  return {
    id: row.id,
    type: row.type,
    directory: row.directory,
    graphFile: row.graph_file,
    state: row.state,
    error: row.error === null ? null : (JSON.parse(row.error) as ModelFault),
    digest: row.digest,
    sizeBytes: row.size_bytes,
    activations: row.activations,
    executionProvider: row.execution_provider,
    deviceId: row.device_id,
    contextLength: row.context_length,
    embeddingDimensions: row.embedding_dimensions,
    capabilities: JSON.parse(row.capabilities) as string[],
    aliases: JSON.parse(row.aliases) as string[],
    ownedBy: row.owned_by,
    embedded: row.embedded === 1,
    createdAt: row.created_at,
    quarantinedAt: row.quarantined_at,
    pinned: row.pinned === 1,
    keepAliveSeconds: row.keep_alive_seconds,
    weightsMemoryBytes: row.weights_memory_bytes,
    kvTokenBytes: row.kv_token_bytes,
  };
}
