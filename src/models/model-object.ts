import type { ExactPromises, ProviderUse } from '../inference/index.js';
import type { Computation } from './computation.js';
import type { ModelRecord } from './model-record.js';

/** What is live about a model that is being loaded or is loaded; null for one that is neither. */
export interface ModelRuntime {
  state: 'loading' | 'loaded';
  /** Epoch milliseconds; null while loading. */
  loadedAt: number | null;
  /** What it runs on; null while loading. */
  provider: ProviderUse | null;
}

/** What is live about a model. Times are epoch milliseconds. */
export interface ModelLive {
  runtime: ModelRuntime | null;
  /** As measured by the last load since the service started. */
  exact: ExactPromises | null;
  /** Of its process at this moment; null: it is not loaded. */
  memoryBytes: number | null;
  memoryEstimateBytes: number | null;
  lastUsedAt: number | null;
  /** Null: it is not loaded, in use, or stays. */
  unloadsAt: number | null;
}

export const NEVER_LOADED: ModelLive = {
  runtime: null,
  exact: null,
  memoryBytes: null,
  memoryEstimateBytes: null,
  lastUsedAt: null,
  unloadsAt: null,
};

/** The Model object of WIRE B2. Times are unix seconds. */
export interface ModelObject {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
  lmsp: {
    type: string;
    state: string;
    digest: string | null;
    size_bytes: number | null;
    format: 'onnx';
    context_length: number | null;
    embedding_dimensions: number | null;
    capabilities: string[];
    aliases: string[];
    loaded_at: number | null;
    pinned: boolean;
    /** Own wish of the model; null: as the service says. */
    keep_alive_seconds: number | null;
    memory_bytes: number | null;
    memory_estimate_bytes: number | null;
    last_used_at: number | null;
    unloads_at: number | null;
    error: { code: string; message: string } | null;
    activations: string;
    execution_provider: {
      requested: string;
      /** Null: not loaded. */
      used: string | null;
      device_id: number | null;
      /** Why another is used than was asked for. */
      reason: string | null;
    };
    /** What holds bit by bit on this machine (ENGINE 2.8); null: not loaded yet. */
    exact: { resume: boolean; batch_invariant: boolean } | null;
  };
}

export function toModelObject(record: ModelRecord, computation: Computation, live: ModelLive): ModelObject {
  const { runtime, exact } = live;
  return {
    id: record.id,
    object: 'model',
    created: seconds(record.createdAt),
    owned_by: record.ownedBy,
    lmsp: {
      type: record.type,
      state: runtime?.state ?? record.state,
      digest: record.digest,
      size_bytes: record.sizeBytes,
      format: 'onnx',
      context_length: record.contextLength,
      embedding_dimensions: record.embeddingDimensions,
      capabilities: record.capabilities,
      aliases: record.aliases,
      loaded_at: secondsOrNull(runtime?.loadedAt),
      pinned: record.pinned,
      keep_alive_seconds: record.keepAliveSeconds,
      memory_bytes: live.memoryBytes,
      memory_estimate_bytes: live.memoryEstimateBytes,
      last_used_at: secondsOrNull(live.lastUsedAt),
      unloads_at: secondsOrNull(live.unloadsAt),
      error: record.error,
      activations: computation.activations,
      execution_provider: providerObject(computation, runtime?.provider ?? null),
      exact: exact && { resume: exact.resume, batch_invariant: exact.batchInvariant },
    },
  };
}

function providerObject({ provider }: Computation, use: ProviderUse | null): ModelObject['lmsp']['execution_provider'] {
  return {
    requested: provider.name,
    used: use?.used ?? null,
    device_id: provider.name === 'cuda' ? provider.deviceId : null,
    reason: use?.reason ?? null,
  };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function secondsOrNull(milliseconds: number | null | undefined): number | null {
  return milliseconds == null ? null : seconds(milliseconds);
}
