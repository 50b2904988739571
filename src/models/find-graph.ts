import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { DomainError } from '../errors/index.js';
import { locationFault } from '../graphs/index.js';

export const LAYOUTS = ['huggingface', 'genai'] as const;
export type ModelLayout = (typeof LAYOUTS)[number];

/** Suffixes of graph files by dtype, as transformers.js has them; in the order in which they are looked for. */
const SUFFIXES = {
  q4: '_q4',
  q4f16: '_q4f16',
  fp16: '_fp16',
  fp32: '',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  bnb4: '_bnb4',
  q2: '_q2',
  q2f16: '_q2f16',
  q1: '_q1',
  q1f16: '_q1f16',
} as const;
export type Dtype = keyof typeof SUFFIXES;
export const DTYPES = Object.keys(SUFFIXES) as Dtype[];

/** Which graph is wanted. */
export interface GraphRequest {
  /** Absent: genai where only that fits. */
  layout?: ModelLayout | null;
  /** Absent: the first that there is. */
  dtype?: Dtype | null;
}

export interface FolderRequest extends GraphRequest {
  /** Absolute. */
  directory: string;
}

/** The files of a model, wherever they are: on disk, or in the listing of a hub. Paths are relative, with `/`. */
export interface ModelFiles {
  has(path: string): Promise<boolean>;
  /** Null where there is none. */
  text(path: string): Promise<string | null>;
}

export interface FoundGraph {
  layout: ModelLayout;
  /** Relative to the folder, with `/`. */
  graphFile: string;
  dtype: Dtype | null;
}

/** Chooses the graph file of a model's folder. Throws invalid_value with the field at fault. */
export async function findGraph({ directory, ...request }: FolderRequest): Promise<FoundGraph> {
  if (!isAbsolute(directory) || directory.includes('\0')) throw refused('source.path', 'must be an absolute path');
  if (!(await isDirectory(directory))) throw refused('source.path', 'is no folder that the service can read');
  return chooseGraph(filesOnDisk(directory), request);
}

export function filesOnDisk(directory: string): ModelFiles {
  return {
    has: (path) => isFile(join(directory, path)),
    text: (path) => readFile(join(directory, path), 'utf8').catch(() => null),
  };
}

/** As `findGraph`, wherever the files are. */
export async function chooseGraph(files: ModelFiles, { layout, dtype }: GraphRequest): Promise<FoundGraph> {
  if (layout !== 'genai') {
    const found = await huggingFaceGraph(files, dtype ?? null);
    if (found !== null) return found;
    if (layout === 'huggingface' || dtype != null) throw noGraph(dtype ?? null);
  }
  if (dtype != null) throw refused('dtype', 'belongs to the layout huggingface; a genai folder names its one graph');
  return { layout: 'genai', graphFile: await genaiGraph(files), dtype: null };
}

async function huggingFaceGraph(files: ModelFiles, dtype: Dtype | null): Promise<FoundGraph | null> {
  for (const each of dtype === null ? DTYPES : [dtype]) {
    for (const graphFile of [`onnx/model${SUFFIXES[each]}.onnx`, `model${SUFFIXES[each]}.onnx`]) {
      // A folder of the other layout has its graph beside genai_config.json, and no config.json.
      if (!graphFile.startsWith('onnx/') && !(await files.has('config.json'))) continue;
      if (await files.has(graphFile)) return { layout: 'huggingface', graphFile, dtype: each };
    }
  }
  return null;
}

/** The file that genai_config.json names. */
async function genaiGraph(files: ModelFiles): Promise<string> {
  const text = await files.text('genai_config.json');
  if (text === null) throw noGraph(null);
  const name = filenameIn(text);
  if (name === null || locationFault(name) !== null) {
    throw refused('source.path', 'has a genai_config.json whose model.decoder.filename is no path below the folder');
  }
  if (!(await files.has(name))) throw refused('source.path', `lacks ${name}, named by genai_config.json`);
  return name;
}

function filenameIn(text: string): string | null {
  try {
    const { model } = JSON.parse(text) as { model?: { decoder?: { filename?: unknown } } };
    const filename = model?.decoder?.filename;
    return typeof filename === 'string' ? filename : null;
  } catch {
    return null;
  }
}

function noGraph(dtype: Dtype | null): DomainError {
  if (dtype !== null) return refused('dtype', `has no graph: there is no onnx/model${SUFFIXES[dtype]}.onnx`);
  return refused('source.path', 'holds no onnx/model*.onnx and no genai_config.json');
}

function refused(param: string, reason: string): DomainError {
  return new DomainError('invalid_value', `'${param}' ${reason}.`, { param });
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
