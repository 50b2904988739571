import { posix } from 'node:path';
import {
  editGraph,
  encoderLayout,
  locationFault,
  readGraph,
  textLayout,
  UnsupportedGraph,
  type GraphFacts,
  type TextLayout,
} from '../graphs/index.js';
import type { ModelType } from './model-record.js';

/** What a model's graph says that matters before it is loaded. */
export interface GraphReading {
  /** Files with weights, relative to the model's folder. */
  externalFiles: { path: string; leastBytes: number }[];
  /** Its weights can be mapped from its file; false: it is opened as it is. */
  isEditable: boolean;
  /** Why the graph cannot be run, with the operator, input or output at fault; null: nothing is known against it. */
  fault: string | null;
  /** Memory that one token of one sequence takes in the cache; 0: there is no cache, or none is known. */
  kvTokenBytes: number;
}

/** `misplaced`: weights that the graph wants from another place than its own folder. */
export function readGraphFile(
  real: string,
  graphFile: string,
  type: ModelType,
): GraphReading & { misplaced: string | null } {
  let facts: GraphFacts;
  try {
    facts = readGraph(real);
  } catch (error) {
    const fault = `${graphFile}: ${(error as Error).message}.`;
    return { externalFiles: [], isEditable: false, fault, kvTokenBytes: 0, misplaced: null };
  }
  const misplaced = facts.externalFiles.map(({ location }) => locationFault(location)).find((fault) => fault !== null);
  return {
    externalFiles: facts.externalFiles.map(({ location, leastBytes }) => ({
      path: posix.join(posix.dirname(graphFile), location),
      leastBytes,
    })),
    isEditable: isEditable(real),
    ...layoutOf(graphFile, facts, type),
    misplaced: misplaced === undefined ? null : `${graphFile}: ${misplaced}.`,
  };
}

function isEditable(real: string): boolean {
  try {
    editGraph(real, { int8Activations: false, lastPositions: false });
    return true;
  } catch {
    return false;
  }
}

/** The first file with fewer bytes than the graph has in it. */
export function shortFile(
  wanted: GraphReading['externalFiles'],
  found: readonly { path: string; sizeBytes: number }[],
): string | null {
  const short = wanted.find(({ path, leastBytes }) =>
    found.some((file) => file.path === path && file.sizeBytes < leastBytes),
  );
  return short === undefined ? null : `${short.path}: it is cut off.`;
}

function layoutOf(graphFile: string, facts: GraphFacts, type: ModelType): Pick<GraphReading, 'fault' | 'kvTokenBytes'> {
  try {
    if (type === 'llm') return { fault: null, kvTokenBytes: kvTokenBytes(textLayout(facts)) };
    encoderLayout(facts, type);
    return { fault: null, kvTokenBytes: 0 };
  } catch (error) {
    if (error instanceof UnsupportedGraph) return { fault: `${graphFile}: ${error.message}.`, kvTokenBytes: 0 };
    throw error;
  }
}

function kvTokenBytes({ caches }: TextLayout): number {
  return caches.reduce((sum, { type, heads, headSize }) => sum + heads * headSize * (type === 'float16' ? 2 : 4), 0);
}
