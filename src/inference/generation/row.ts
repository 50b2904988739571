import type { ConstrainedOutput } from '../constraint/token-constraint.js';
import type { GenerationRequest, KernelClass, ReplayedStep } from '../inference-engine.js';
import type { OutputConstraint } from '../output-constraint.js';
import { TokenHistory } from './sampler.js';
import { TextAssembler, type AssembledStep, type TokenDecoder } from './text-assembler.js';

/** Steps a row may be ahead of what is known to be on disk; at this many it stops decoding until told. */
export const STEP_WINDOW = 32;

/** One generation on its way: waiting, prefilling or decoding. */
export class Row {
  readonly history: TokenHistory;
  private readonly assembler: TextAssembler;
  /** What the tokens of the log yield: computed from the ids alone, before any is decoded. */
  readonly rebuilt: ReplayedStep[];
  /** What the output is held to, the tokens of the log taken; null: nothing. */
  readonly constrained: ConstrainedOutput | null;
  /** Tokens in the cache. */
  past = 0;
  /** Of them those of the prompt that were there when the row was admitted. */
  reused = 0;
  /** The drawn token that is not in the cache yet. */
  nextToken = 0;
  /** Steps made, replayed ones included, which is also the index of the next one. */
  steps = 0;
  /** Steps known to be on disk. */
  acknowledged: number;
  cancelled = false;
  /** Runs beside nothing else. */
  alone: boolean;

  /** Throws when the log goes on behind its own end, and when the output cannot be held to what is asked. */
  constructor(
    readonly request: GenerationRequest,
    decoder: TokenDecoder,
    contextLength: number,
  ) {
    const { promptIds, stop, maxOutputTokens, constraint, shownTokens, replay = [] } = request;
    this.history = new TokenHistory(promptIds);
    const room = contextLength - promptIds.length;
    this.assembler = new TextAssembler(decoder, stop, Math.min(maxOutputTokens, room), shownTokens);
    this.constrained = constraint ? constrain(decoder, constraint) : null;
    this.rebuilt = replay.map(({ tokenId }) => {
      const { text, finish } = this.assemble(tokenId);
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

  /** What the token adds to the text; once for each, in order. */
  assemble(tokenId: number): AssembledStep {
    this.constrained?.take(tokenId);
    return this.assembler.push(tokenId, this.constrained?.whole ?? false);
  }

  /** Finds out what may come next while something else is being waited for; what keeps it from that, `draw` will tell. */
  prepare(): void {
    try {
      void this.constrained?.allowed;
    } catch {
      // The row fails when its token is drawn.
    }
  }

  /** The next token is known. */
  take(tokenId: number): void {
    this.nextToken = tokenId;
    this.history.add(tokenId);
    this.steps++;
  }
}

function constrain({ vocabulary }: TokenDecoder, constraint: OutputConstraint): ConstrainedOutput {
  if (vocabulary === undefined) throw new Error('this model cannot be held to a form of output');
  return vocabulary.constraint(constraint).begin();
}
