import type {
  EngineModel,
  Generation,
  GenerationEnd,
  GenerationRequest,
  GenerationStep,
  LoggedToken,
  ReplayedStep,
  SamplingParameters,
} from '../../src/inference/index.js';

export const GREEDY: SamplingParameters = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  logitBias: {},
};

type Overrides = Partial<Omit<GenerationRequest, 'sampling'>> & Partial<SamplingParameters>;

let count = 0;

/** A greedy request under a new name; sampling fields may be given beside the others. */
export function request(promptIds: number[], overrides: Overrides = {}): GenerationRequest {
  const sampling = { ...GREEDY };
  const rest: Partial<GenerationRequest> = {};
  for (const [key, value] of Object.entries(overrides))
    Object.assign(key in GREEDY ? sampling : rest, { [key]: value });
  return { id: `generation-${++count}`, promptIds, seed: 1, stop: [], maxOutputTokens: 400, sampling, ...rest };
}

/** A request that no end token ends. */
export function endlessRequest(model: EngineModel, promptIds: number[], maxOutputTokens: number): GenerationRequest {
  const logitBias = Object.fromEntries(model.info.endTokenIds.map((id) => [String(id), -1000]));
  return request(promptIds, { maxOutputTokens, logitBias });
}

/** One generation and everything it reported; acknowledges each step at once unless told otherwise. */
export class Recording {
  readonly steps: GenerationStep[] = [];
  readonly prefilled: number[] = [];
  /** Tokens of the prompt that an earlier one had left in the cache. */
  reused = 0;
  readonly rebuilt: ReplayedStep[] = [];
  readonly replayed: number[] = [];
  readonly generation: Generation;
  readonly ended: Promise<GenerationEnd>;
  acknowledging: boolean;

  constructor(model: EngineModel, asked: GenerationRequest, { acknowledging = true } = {}) {
    this.acknowledging = acknowledging;
    this.generation = model.generate(asked, {
      prefilled: (tokens, reused) => {
        this.prefilled.push(tokens);
        this.reused = reused;
      },
      rebuilt: (steps) => this.rebuilt.push(...steps),
      replayed: (tokens) => this.replayed.push(tokens),
      step: (step) => {
        this.steps.push(step);
        if (this.acknowledging) this.generation.acknowledge(step.index);
      },
    });
    this.ended = this.generation.ended;
  }

  get text(): string {
    return this.steps.map((step) => step.text).join('');
  }

  /** What a journal of the first `count` steps would hold. */
  log(count: number): LoggedToken[] {
    return this.steps.slice(0, count).map(({ tokenId, kernelClass }) => ({ tokenId, kernelClass }));
  }

  get ids(): number[] {
    return this.steps.map((step) => step.tokenId);
  }
}

export async function runTogether(model: EngineModel, requests: GenerationRequest[]): Promise<Recording[]> {
  const runs = requests.map((each) => new Recording(model, each));
  await Promise.all(runs.map((run) => run.ended));
  return runs;
}
