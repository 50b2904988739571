import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readGraph } from '../graphs/index.js';
import type { FileDigest } from './model-source.js';

/** What a thread does with one file. */
export type FileJob =
  | { kind: 'digest'; path: string; algorithm: FileDigest['algorithm'] }
  /** Places of the weights that lie outside of a graph, as it names them. */
  | { kind: 'weights'; path: string };

export type FileAnswer = { digest: string } | { weights: string[] } | { fault: string };

const CHUNK_BYTES = 1 << 20;

/** Synchronous on purpose, as inspectFolder is: the work of a thread of its own. */
export function workOnFile(job: FileJob): FileAnswer {
  if (job.kind === 'digest') return { digest: digestOf(job.path, job.algorithm) };
  try {
    return { weights: readGraph(job.path).externalFiles.map(({ location }) => location) };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}

function digestOf(path: string, algorithm: FileDigest['algorithm']): string {
  const file = openSync(path, 'r');
  try {
    const hash = createHash(algorithm === 'sha256' ? 'sha256' : 'sha1');
    // As git names its blobs.
    if (algorithm === 'git-sha1') hash.update(`blob ${fstatSync(file).size}\0`);
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) hash.update(chunk.subarray(0, read));
    return hash.digest('hex');
  } finally {
    closeSync(file);
  }
}
