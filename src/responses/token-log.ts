import type { GenerationStep, KernelClass } from '../inference/index.js';

/** What is remembered of one token: enough to decode it again the way it was decoded (ENGINE 4.7). */
export interface LoggedToken {
  tokenId: number;
  kernelClass: KernelClass;
}

/** The snapshot line of a step: the token id, and `b` where the row was decoded beside others. */
export function snapshotLine(step: Pick<GenerationStep, 'tokenId' | 'kernelClass'>): string {
  return step.kernelClass === 'batch' ? `${step.tokenId}b` : `${step.tokenId}`;
}

/** Reads a snapshot line; throws on one that this version did not write. */
export function parseSnapshotLine(line: string): LoggedToken {
  const match = /^(\d+)(b?)$/.exec(line);
  if (!match?.[1]) throw new Error('unreadable snapshot line');
  return { tokenId: Number(match[1]), kernelClass: match[2] === 'b' ? 'batch' : 'alone' };
}
