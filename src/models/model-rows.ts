import type { StoreReader, Tx } from '../database/index.js';
import type { EmbeddedModel } from './embedded-models.js';
import { recordFromRow, type ModelRecord, type ModelRow } from './model-record.js';
import type { Verdict } from './verdict.js';

/** A unit of work or the read-only side of the store. */
type Reader = Pick<StoreReader, 'query'>;

const SELECT = `SELECT id, type, directory, graph_file, activations, execution_provider, device_id, digest, size_bytes, state,
  error, context_length, embedding_dimensions, capabilities, aliases, owned_by, embedded, created_at, quarantined_at, pinned,
  keep_alive_seconds, weights_memory_bytes, kv_token_bytes FROM models`;

export async function selectModel(reader: Reader, id: string): Promise<ModelRecord | null> {
  const [row] = await reader.query<ModelRow>(`${SELECT} WHERE id = ?`, [id]);
  return row === undefined ? null : recordFromRow(row);
}

/** All models by id; a machine has tens of them, not thousands. */
export async function selectModels(reader: Reader): Promise<ModelRecord[]> {
  const rows = await reader.query<ModelRow>(`${SELECT} ORDER BY id`);
  return rows.map(recordFromRow);
}

/** Adds the row of an embedded model, not yet verified, or brings the one that is there in line with the package. */
export async function upsertEmbedded(tx: Tx, model: EmbeddedModel, now: number): Promise<void> {
  await tx.execute(
    `INSERT INTO models (id, type, directory, graph_file, layout, activations, state, capabilities, aliases, pinned,
       owned_by, embedded, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'huggingface', 'file', 'verifying', ?, ?, 0, 'lmsp', 1, ?, ?)
     ON CONFLICT (id) DO UPDATE SET directory = excluded.directory, graph_file = excluded.graph_file,
       capabilities = excluded.capabilities, updated_at = excluded.updated_at
     WHERE models.embedded = 1`,
    [
      model.id,
      model.type,
      model.directory,
      model.graphFile,
      JSON.stringify(model.capabilities),
      JSON.stringify(model.aliases),
      now,
      now,
    ],
  );
}

/** A model as it is registered. */
export interface ModelDraft extends Pick<
  ModelRecord,
  | 'id'
  | 'type'
  | 'directory'
  | 'graphFile'
  | 'activations'
  | 'executionProvider'
  | 'deviceId'
  | 'contextLength'
  | 'capabilities'
  | 'aliases'
  | 'pinned'
  | 'keepAliveSeconds'
> {
  layout: string;
  dtype: string | null;
}

/** Adds a model that a person registers; not yet verified. */
export async function insertModel(tx: Tx, model: ModelDraft, now: number): Promise<void> {
  await tx.execute(
    `INSERT INTO models (id, type, directory, graph_file, layout, dtype, activations, execution_provider, device_id,
       state, context_length, capabilities, aliases, pinned, keep_alive_seconds, owned_by, embedded, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'verifying', ?, ?, ?, ?, ?, 'local', 0, ?, ?)`,
    [
      model.id,
      model.type,
      model.directory,
      model.graphFile,
      model.layout,
      model.dtype,
      model.activations,
      model.executionProvider,
      model.deviceId,
      model.contextLength,
      JSON.stringify(model.capabilities),
      JSON.stringify(model.aliases),
      model.pinned ? 1 : 0,
      model.keepAliveSeconds,
      now,
      now,
    ],
  );
}

export async function deleteModel(tx: Tx, id: string): Promise<void> {
  await tx.execute('DELETE FROM models WHERE id = ?', [id]);
}

/** Sets or, by null, lifts the quarantine. */
export async function updateQuarantine(tx: Tx, id: string, at: number | null, now: number): Promise<void> {
  await tx.execute('UPDATE models SET quarantined_at = ?, updated_at = ? WHERE id = ?', [at, now, id]);
}

/** Stores what an inspection of the files said. To be called in the unit that read `seen`. */
export async function updateVerdict(tx: Tx, seen: ModelRecord, verdict: Verdict, now: number): Promise<void> {
  await tx.execute(
    `UPDATE models SET state = ?, error = ?, digest = ?, size_bytes = ?, context_length = ?,
       embedding_dimensions = ?, weights_memory_bytes = ?, kv_token_bytes = ?, updated_at = ?
     WHERE id = ? AND digest IS NOT DISTINCT FROM ?`,
    [
      verdict.state,
      verdict.error === null ? null : JSON.stringify(verdict.error),
      verdict.digest,
      verdict.sizeBytes,
      verdict.contextLength,
      verdict.embeddingDimensions,
      verdict.weightsMemoryBytes,
      verdict.kvTokenBytes,
      now,
      seen.id,
      seen.digest,
    ],
  );
}
