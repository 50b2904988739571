import type { GenerationRequest } from '../inference-engine.js';

/** A row of a decode step: the token to take in, behind `past` tokens that are in the row's cache. */
export interface DecodeInput {
  tokenId: number;
  past: number;
}

/**
 * A model with a cache of rows, as the scheduler drives it: one call at a time, neighbouring rows decode together. What
 * a run writes behind `past` may be written again: a later one counts.
 * Returned logits ([vocabulary], float32) are views that hold until the next call.
 */
export interface LanguageModel {
  readonly vocabularySize: number;
  readonly contextLength: number;
  /** What it holds of earlier prompts, for later ones. */
  readonly prefixBytes?: number;
  /** A new request takes the row; its first chunk follows, behind as many tokens of the prompt as are returned. */
  admit?(row: number, request: GenerationRequest): number;
  /** Takes in a chunk of the prompt behind `past` tokens; logits of its last position. */
  prefill(row: number, ids: readonly number[], past: number): Promise<Float32Array>;
  /** One step for inputs.length rows from row `first`, logits per row. */
  decode(inputs: readonly DecodeInput[], first: number): Promise<Float32Array[]>;
  /** Copies the first `tokens` positions of a row's cache to another row. */
  move(from: number, to: number, tokens: number): void;
}
