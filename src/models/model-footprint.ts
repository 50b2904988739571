import type { ModelRecord } from './model-record.js';

/** Resident bytes for each byte of a file whose weights are mapped, and of one that the runtime reads and holds (ENGINE 2.6). */
const MAPPED_FACTOR = 0.8;
const HELD_FACTOR = 1.25;
/** A process with the runtime and no model: as measured on x64 Linux with Node 20. */
const PROCESS_BYTES = 85_000_000;
/** What a sequence is expected to hold. The cache is laid out for more, but the system commits only what is written. */
const EXPECTED_TOKENS = 1024;

interface SizedFile {
  path: string;
  sizeBytes: number;
}

/**
 * What the weights of a model take in memory; `files`: those that the loader reads. Weights beside the graph are mapped,
 * and so are those within unless the graph has to be opened as its file has it (decision 0007).
 */
export function weightsMemoryBytes(graphFile: string, files: readonly SizedFile[], isEdited: boolean): number {
  const external = files.filter(({ path }) => path !== graphFile && !isText(path));
  const inline = files.find(({ path }) => path === graphFile)?.sizeBytes ?? 0;
  const outside = external.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return Math.ceil(inline * (isEdited ? MAPPED_FACTOR : HELD_FACTOR) + outside * MAPPED_FACTOR);
}

/** Memory of the cache when every row holds as many tokens as expected. */
export function expectedCacheBytes({ kvTokenBytes, contextLength }: ModelRecord, rows: number): number {
  return (kvTokenBytes ?? 0) * Math.max(rows, 1) * Math.min(contextLength ?? EXPECTED_TOKENS, EXPECTED_TOKENS);
}

/** What a model will take in memory, before it was ever loaded; null while its files were not read. */
export function estimatedBytes(record: ModelRecord, rows: number): number | null {
  const { weightsMemoryBytes: weights, sizeBytes } = record;
  // A row of an older version: its next load reads the files again.
  const held = weights ?? (sizeBytes === null ? null : Math.ceil(sizeBytes * HELD_FACTOR));
  return held === null ? null : held + expectedCacheBytes(record, rows) + PROCESS_BYTES;
}

/** Configuration and tokenizer are read by name and let go of, or are small beside the weights. */
function isText(path: string): boolean {
  return /\.(?:json|jinja)$/.test(path);
}
