import type { FolderInspection } from './inspect-folder.js';
import type { ModelFault, ModelRecord } from './model-record.js';

/** What the files of a model mean for its row. */
export interface Verdict extends Pick<
  ModelRecord,
  'digest' | 'sizeBytes' | 'contextLength' | 'embeddingDimensions' | 'weightsMemoryBytes' | 'kvTokenBytes'
> {
  state: 'available' | 'missing' | 'error';
  error: ModelFault | null;
}

/** `starting`: the service has just started, perhaps after an update of the package. */
export type VerdictOccasion = 'starting' | 'loading';

/**
 * A broken model keeps the digest it was registered with: once its files are whole again, so is the model.
 * Only the files of an embedded model may change, with the package: then its own SHA256SUMS vouches for them.
 */
export function judge(record: ModelRecord, inspection: FolderInspection, occasion: VerdictOccasion): Verdict {
  const { digest, sizeBytes, contextLength, embeddingDimensions, weightsMemoryBytes, kvTokenBytes } = record;
  const known = { digest, sizeBytes, contextLength, embeddingDimensions, weightsMemoryBytes, kvTokenBytes };
  const broken = (state: 'missing' | 'error', code: ModelFault['code'], message: string): Verdict => {
    return { ...known, state, error: { code, message } };
  };
  if (inspection.outcome === 'missing') return broken('missing', 'model_file_missing', inspection.message);
  if (inspection.outcome === 'refused') return broken('error', 'model_unsupported', inspection.message);
  if (inspection.digest !== digest && !mayRegister(record, inspection, occasion)) {
    return broken('error', 'model_digest_mismatch', 'Its files differ from those that were registered.');
  }
  if (inspection.fault !== null) return broken('error', 'model_unsupported', inspection.fault);
  return {
    state: 'available',
    error: null,
    digest: inspection.digest,
    sizeBytes: inspection.sizeBytes,
    embeddingDimensions: record.type === 'embedding' ? inspection.hiddenSize : null,
    weightsMemoryBytes: inspection.weightsMemoryBytes,
    kvTokenBytes: inspection.kvTokenBytes,
    contextLength: record.embedded ? inspection.contextLength : shorter(contextLength, inspection.contextLength),
  };
}

/** A person may bound the context, not extend it. */
function shorter(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function mayRegister(
  { embedded, digest }: ModelRecord,
  inspection: Extract<FolderInspection, { outcome: 'read' }>,
  occasion: VerdictOccasion,
): boolean {
  if (!embedded) return digest === null;
  return inspection.declared === inspection.digest && (digest === null || occasion === 'starting');
}

/** Whether the verdict says anything that the row does not. */
export function changes(record: ModelRecord, verdict: Verdict): boolean {
  return (
    record.state !== verdict.state ||
    record.digest !== verdict.digest ||
    record.sizeBytes !== verdict.sizeBytes ||
    record.contextLength !== verdict.contextLength ||
    record.embeddingDimensions !== verdict.embeddingDimensions ||
    record.weightsMemoryBytes !== verdict.weightsMemoryBytes ||
    record.kvTokenBytes !== verdict.kvTokenBytes ||
    JSON.stringify(record.error) !== JSON.stringify(verdict.error)
  );
}
