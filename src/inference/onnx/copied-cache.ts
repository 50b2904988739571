import type { Tensor } from './tensor.js';

/** Where the cache of a model is between two runs of its graph that hand it out and in. */
export interface CopiedCache {
  /** The first max(`past`) positions of the rows, one tensor per slot. */
  take(first: number, past: readonly number[]): Tensor[];
  /** What a run made of them: `added` more positions. */
  put(first: number, present: readonly Tensor[], past: readonly number[], added: number): void;
  move(from: number, to: number, tokens: number): void;
}
