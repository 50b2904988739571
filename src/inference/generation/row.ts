import type { GenerationRequest } from '../inference-engine.js';
import { TokenHistory } from './sampler.js';
import { TextAssembler, type TokenDecoder } from './text-assembler.js';

/** Steps a row may be ahead of what is known to be on disk; at this many it stops decoding until told. */
export const STEP_WINDOW = 32;

/** One generation on its way: waiting, prefilling or decoding. */
export class Row {
  readonly history: TokenHistory;
  readonly assembler: TextAssembler;
  /** Tokens in the cache. */
  past = 0;
  /** The drawn token that is not in the cache yet. */
  nextToken = 0;
  /** Steps made, which is also the index of the next one. */
  steps = 0;
  /** Steps known to be on disk. */
  acknowledged = 0;
  cancelled = false;

  constructor(
    readonly request: GenerationRequest,
    decoder: TokenDecoder,
    contextLength: number,
  ) {
    this.history = new TokenHistory(request.promptIds);
    const room = contextLength - request.promptIds.length;
    this.assembler = new TextAssembler(decoder, request.stop, Math.min(request.maxOutputTokens, room));
  }

  get paused(): boolean {
    return this.steps - this.acknowledged >= STEP_WINDOW;
  }
}
