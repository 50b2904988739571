import type {
  EngineModel,
  Generation,
  GenerationEnd,
  GenerationListener,
  GenerationRequest,
} from '../inference/index.js';

/** What one generation came to. Counts are tokens; times are milliseconds of the monotonic clock. */
export interface GenerationFigures {
  outcome: GenerationEnd['outcome'];
  /** Of the prompt, as far as it was taken in. */
  promptTokens: number;
  /** Of them those that an earlier prompt had left in the cache. */
  cachedTokens: number;
  /** Newly drawn ones: those of a log were told with the attempt that drew them. */
  outputTokens: number;
  replayedTokens: number;
  /** From the claim, a load included, to the first new token; null: there was none. */
  firstTokenMs: number | null;
  /** From the first new token to the last. */
  decodeMs: number;
}

/** A loaded model as one seat uses it: what is generated on it is measured, whoever asks. */
export class MeteredModel implements EngineModel {
  /** `since`: when the seat was taken, on the monotonic clock; `told` hears of each generation at its end. */
  constructor(
    private readonly model: EngineModel,
    private readonly since: number,
    private readonly told: (figures: GenerationFigures) => void,
  ) {}

  get info(): EngineModel['info'] {
    return this.model.info;
  }

  get incarnation(): string {
    return this.model.incarnation;
  }

  get gone(): EngineModel['gone'] {
    return this.model.gone;
  }

  generate(request: GenerationRequest, listener: GenerationListener): Generation {
    const meter = new Meter(this.since, listener);
    const generation = this.model.generate(request, meter);
    void generation.ended.then(({ outcome }) => this.told({ outcome, ...meter.figures() }));
    return generation;
  }

  activity(): ReturnType<EngineModel['activity']> {
    return this.model.activity();
  }

  close(): Promise<void> {
    return this.model.close();
  }
}

/** Counts what passes by on its way to the listener. */
class Meter implements Required<GenerationListener> {
  private promptTokens = 0;
  private cachedTokens = 0;
  private outputTokens = 0;
  private replayedTokens = 0;
  private firstAt: number | null = null;
  private lastAt = 0;

  constructor(
    private readonly since: number,
    private readonly listener: GenerationListener,
  ) {}

  prefilled(tokens: number, reused = 0): void {
    this.promptTokens = tokens;
    this.cachedTokens = reused;
    this.listener.prefilled?.(tokens, reused);
  }

  rebuilt(...rebuilt: Parameters<Required<GenerationListener>['rebuilt']>): void {
    this.listener.rebuilt?.(...rebuilt);
  }

  replayed(tokens: number): void {
    this.replayedTokens = tokens;
    this.listener.replayed?.(tokens);
  }

  step(...step: Parameters<GenerationListener['step']>): void {
    this.outputTokens += 1;
    this.lastAt = performance.now();
    this.firstAt ??= this.lastAt;
    this.listener.step(...step);
  }

  figures(): Omit<GenerationFigures, 'outcome'> {
    const { promptTokens, cachedTokens, outputTokens, replayedTokens, firstAt } = this;
    return {
      promptTokens,
      cachedTokens,
      outputTokens,
      replayedTokens,
      firstTokenMs: firstAt === null ? null : firstAt - this.since,
      decodeMs: firstAt === null ? 0 : this.lastAt - firstAt,
    };
  }
}
