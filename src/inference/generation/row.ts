import type { GenerationRequest, KernelClass, ReplayedStep } from '../inference-engine.js';
import { TokenHistory } from './sampler.js';
import { TextAssembler, type TokenDecoder } from './text-assembler.js';

/** Steps a row may be ahead of what is known to be on disk; at this many it stops decoding until told. */
export const STEP_WINDOW = 32;

/** One generation on its way: waiting, prefilling or decoding. */
export class Row {
  readonly history: TokenHistory;
  readonly assembler: TextAssembler;
  /** What the tokens of the log yield: computed from the ids alone, before any is decoded. */
  readonly rebuilt: ReplayedStep[];
  /** Tokens in the cache. */
  past = 0;
  /** The drawn token that is not in the cache yet. */
  nextToken = 0;
  /** Steps made, replayed ones included, which is also the index of the next one. */
  steps = 0;
  /** Steps known to be on disk. */
  acknowledged: number;
  cancelled = false;
  /** Runs beside nothing else. */
  alone: boolean;

  /** Throws when the log goes on behind its own end. */
  constructor(
    readonly request: GenerationRequest,
    decoder: TokenDecoder,
    contextLength: number,
  ) {
    const { promptIds, stop, maxOutputTokens, replay = [] } = request;
    this.history = new TokenHistory(promptIds);
    const room = contextLength - promptIds.length;
    this.assembler = new TextAssembler(decoder, stop, Math.min(maxOutputTokens, room));
    this.rebuilt = replay.map(({ tokenId }) => {
      const { text, finish } = this.assembler.push(tokenId);
      return { text, finish };
    });
    this.acknowledged = replay.length;
    this.alone = request.alone ?? false;
  }

  get paused(): boolean {
    return this.steps - this.acknowledged >= STEP_WINDOW;
  }

  /** The next token where the log says which; else it is drawn. */
  get logged(): number | undefined {
    return this.request.replay?.[this.steps]?.tokenId;
  }

  /** The kernels that the next token was once decoded with. */
  get loggedClass(): KernelClass | undefined {
    return this.request.replay?.[this.steps]?.kernelClass;
  }

  /** The next token is known. */
  take(tokenId: number): void {
    this.nextToken = tokenId;
    this.history.add(tokenId);
    this.steps++;
  }
}
