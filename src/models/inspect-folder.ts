import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { readGraphFile, shortFile, type GraphReading } from './graph-reading.js';
import { CONFIG_FILES, FIXED_FILES, REQUIRED_FILES, declaredDigest, digestOf, type FileDigest } from './model-files.js';
import { weightsMemoryBytes } from './model-footprint.js';

export interface FolderToInspect {
  /** Absolute folder of the model. */
  directory: string;
  /** Graph file relative to it. */
  graphFile: string;
  /** What the graph has to be good for. */
  type: 'llm' | 'embedding' | 'rerank';
}

/** What a model's folder holds. Messages name files relative to the folder, never the folder. */
export type FolderInspection =
  | {
      outcome: 'read';
      digest: string;
      /** Of all files in the digest together. */
      sizeBytes: number;
      /** What the folder's own SHA256SUMS says the digest is; null without that file. */
      declared: string | null;
      /** Why files that are all there cannot be used; null: nothing is known against them. */
      fault: string | null;
      /** Longest prompt and output, or for an encoder longest text, as its files say, tokens; null: they do not say. */
      contextLength: number | null;
      /** Numbers of a token's vector by config.json; null where it does not say. */
      hiddenSize: number | null;
      /** What the weights take in memory, estimated from the sizes of their files. */
      weightsMemoryBytes: number;
      /** What one token of one sequence takes in the cache; 0: there is none. */
      kvTokenBytes: number;
    }
  | { outcome: 'missing'; message: string }
  /** A file that is none, or lies outside the folder by way of a link. */
  | { outcome: 'refused'; message: string };

const CHUNK_BYTES = 1 << 20;
/** Smaller advances are not told. */
const LEAST_TOLD = 0.01;

class FolderRefused extends Error {}

/**
 * Reads and hashes every file that the loader reads. Synchronous on purpose: it is the work of a thread of its own,
 * and asynchronous file calls would take the process-wide pool of threads away from the database.
 */
export function inspectFolder(
  { type, directory, graphFile }: FolderToInspect,
  progress: (fraction: number) => void = () => undefined,
): FolderInspection {
  try {
    const root = realpathSync(directory);
    const graph = readGraphOf(root, graphFile, type);
    const outside = graph.externalFiles.map(({ path }) => path);
    const paths = [...new Set([graphFile, ...FIXED_FILES, ...externalWeights(root, graphFile), ...outside])];
    const reading = new ReadingProgress(root, paths, progress);
    const found = paths.flatMap((path) => hashFile(root, path, (bytes) => reading.advance(bytes)) ?? []);
    const lacks = (path: string): boolean => !found.some((file) => file.path === path);
    const absent = [graphFile, ...REQUIRED_FILES, ...outside].filter(lacks);
    if (CONFIG_FILES.every(lacks)) absent.push(CONFIG_FILES[0]);
    if (absent.length > 0) return { outcome: 'missing', message: `The model lacks ${absent.join(', ')}.` };
    return {
      outcome: 'read',
      digest: digestOf(found),
      sizeBytes: found.reduce((sum, file) => sum + file.sizeBytes, 0),
      declared: readDeclared(root, graphFile),
      weightsMemoryBytes: weightsMemoryBytes(graphFile, found, graph.isEditable),
      kvTokenBytes: graph.kvTokenBytes,
      fault: graph.fault ?? shortFile(graph.externalFiles, found) ?? unreadableJson(root),
      contextLength:
        readCount(root, 'sentence_bert_config.json', 'max_seq_length') ??
        readCount(root, 'config.json', 'max_position_embeddings') ??
        readCount(root, 'genai_config.json', 'model', 'context_length'),
      hiddenSize: readCount(root, 'config.json', 'hidden_size') ?? readCount(root, 'config.json', 'dim'),
    };
  } catch (error) {
    if (error instanceof FolderRefused) return { outcome: 'refused', message: error.message };
    if (isAbsent(error)) return { outcome: 'missing', message: "The model's folder does not exist." };
    throw error;
  }
}

/** How much of the files was read, told by the hundredth. */
class ReadingProgress {
  private readonly total: number;
  private read = 0;
  private told = 0;

  constructor(
    root: string,
    paths: readonly string[],
    private readonly tell: (fraction: number) => void,
  ) {
    const sizes = paths.map((path) => inside(root, path)).map((real) => (real === null ? 0 : statSync(real).size));
    this.total = sizes.reduce((sum, size) => sum + size, 0);
  }

  advance(bytes: number): void {
    this.read += bytes;
    const fraction = Math.min(this.read / this.total, 1);
    if (fraction - this.told < LEAST_TOLD) return;
    this.told = fraction;
    this.tell(fraction);
  }
}

/** The graph as it says itself where its weights are; places that lead elsewhere are refused before a file is opened. */
function readGraphOf(root: string, graphFile: string, type: FolderToInspect['type']): GraphReading {
  const real = inside(root, graphFile);
  if (real === null) return { externalFiles: [], isEditable: false, fault: null, kvTokenBytes: 0 };
  if (!statSync(real).isFile()) throw new FolderRefused(`${graphFile} is not a file.`);
  const reading = readGraphFile(real, graphFile, type);
  if (reading.misplaced !== null) throw new FolderRefused(reading.misplaced);
  return reading;
}

/** A file that is cut or empty fails here and not at the first prompt. */
function unreadableJson(root: string): string | null {
  for (const file of [...CONFIG_FILES, ...REQUIRED_FILES]) {
    const real = inside(root, file);
    if (real !== null && !isJsonObject(readFileSync(real, 'utf8'))) return `${file} is not a JSON object.`;
  }
  return null;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Weights outside the graph lie beside it: `<graph>_data`, `<graph>_data_1`, … */
function externalWeights(root: string, graphFile: string): string[] {
  const folder = dirname(graphFile);
  const prefix = folder === '.' ? '' : `${folder}/`;
  return entriesOf(inside(root, folder) ?? root)
    .map((name) => `${prefix}${name}`)
    .filter((path) => path.startsWith(`${graphFile}_data`));
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** The real path of a file of the folder; null if there is none. Throws FolderRefused when it leads outside. */
function inside(root: string, path: string): string | null {
  let real: string;
  try {
    real = realpathSync(join(root, path));
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  if (real !== root && !real.startsWith(root + sep))
    throw new FolderRefused(`${path} leads outside the model's folder.`);
  return real;
}

function hashFile(
  root: string,
  path: string,
  advance: (bytes: number) => void,
): (FileDigest & { sizeBytes: number }) | null {
  const real = inside(root, path);
  if (real === null) return null;
  // Asked before opening: to open a named pipe would block for ever.
  if (!statSync(real).isFile()) throw new FolderRefused(`${path} is not a file.`);
  const file = openSync(real, 'r');
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let sizeBytes = 0;
    for (;;) {
      const read = readSync(file, chunk);
      if (read === 0) return { path, sha256: hash.digest('hex'), sizeBytes };
      hash.update(chunk.subarray(0, read));
      sizeBytes += read;
      advance(read);
    }
  } finally {
    closeSync(file);
  }
}

function readDeclared(root: string, graphFile: string): string | null {
  const file = inside(root, 'SHA256SUMS');
  return file === null ? null : declaredDigest(readFileSync(file, 'utf8'), graphFile);
}

/** Above zero. A file that is no JSON is told elsewhere: here it only leaves the number unknown. */
function readCount(root: string, file: string, ...fields: string[]): number | null {
  try {
    let value = JSON.parse(readFileSync(join(root, file), 'utf8')) as unknown;
    for (const field of fields) value = (value as Record<string, unknown>)[field];
    return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : null;
  } catch {
    return null;
  }
}

function isAbsent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
