import { hasToken, type TokenSet } from '../constraint/token-trie.js';
import type { SamplingParameters } from '../inference-engine.js';
import { MaxHeap } from './max-heap.js';
import { uniform } from './random.js';

/** Weights below this share of the largest are never drawn; keeps the candidate list short at low cost. */
export const NEGLIGIBLE = 1e-8;

/** What penalties look at: the ids a row has seen. Recomputable from prompt ids and logged ids. */
export class TokenHistory {
  /** Prompt and output, for the repetition penalty. */
  readonly seen: Set<number>;
  /** Output only, with counts, for presence and frequency penalties. */
  readonly counts = new Map<number, number>();

  constructor(promptIds: readonly number[]) {
    this.seen = new Set(promptIds);
  }

  add(id: number): void {
    this.seen.add(id);
    this.counts.set(id, (this.counts.get(id) ?? 0) + 1);
  }
}

/** Which token of which output is drawn. */
export interface Drawing {
  seed: number;
  /** Position in the output. */
  index: number;
  /** At least one; absent: all. */
  allowed?: TokenSet | undefined;
}

/** Thrown for logits no token can be drawn from; fails the one row they belong to. */
export class UnusableLogits extends Error {}

/**
 * Draws one token from logits, deterministically (ENGINE 4.5): logit bias → allowed
 * tokens → penalties → temperature → top_k → top_p →
 * min_p → draw. Among the kept ids the draw walks in ascending id order. All arithmetic is Float64; one instance
 * serves all rows, since it only owns scratch memory.
 */
export class Sampler {
  private readonly scores: Float64Array;

  constructor(vocabularySize: number) {
    this.scores = new Float64Array(vocabularySize);
  }

  /** Throws UnusableLogits on NaN or infinite logits. */
  draw(
    logits: Float32Array,
    parameters: SamplingParameters,
    history: TokenHistory,
    { seed, index, allowed }: Drawing,
  ): number {
    this.load(logits);
    this.bias(parameters.logitBias);
    if (allowed) this.restrict(allowed);
    this.penalise(parameters, history);
    const best = this.argmax();
    if (parameters.temperature === 0) return best;
    this.weigh(best, parameters.temperature);
    const kept = this.keep(parameters);
    return this.pick(kept, uniform(seed, index));
  }

  /** Once per row and step over the whole vocabulary: what is looked for, a value that is not finite, is found by sums. */
  private load(logits: Float32Array): void {
    const { scores } = this;
    const { length } = scores;
    if (logits.length < length) throw new UnusableLogits(`the model returned ${logits.length} of ${length} logits`);
    scores.set(logits.length === length ? logits : logits.subarray(0, length));
    let even = 0;
    let odd = 0;
    for (let id = 1; id < length; id += 2) {
      even += scores[id - 1]! * 0;
      odd += scores[id]! * 0;
    }
    if (even + odd + scores[length - 1]! * 0 === 0) return;
    const id = scores.findIndex((value) => !Number.isFinite(value));
    throw new UnusableLogits(`the model returned ${scores[id]} as the logit of token ${id}`);
  }

  private bias(logitBias: Record<string, number>): void {
    for (const id in logitBias) this.add(Number(id), logitBias[id]!);
  }

  private restrict(allowed: TokenSet): void {
    for (let id = 0; id < this.scores.length; id++) if (!hasToken(allowed, id)) this.scores[id] = -Infinity;
  }

  private penalise(parameters: SamplingParameters, history: TokenHistory): void {
    const { repetitionPenalty, presencePenalty, frequencyPenalty } = parameters;
    if (repetitionPenalty !== 1) {
      for (const id of history.seen) {
        const score = this.scores[id];
        if (score === undefined) continue;
        this.scores[id] = score > 0 ? score / repetitionPenalty : score * repetitionPenalty;
      }
    }
    if (presencePenalty === 0 && frequencyPenalty === 0) return;
    for (const [id, count] of history.counts) this.add(id, -presencePenalty - frequencyPenalty * count);
  }

  private add(id: number, amount: number): void {
    const score = this.scores[id];
    if (score !== undefined) this.scores[id] = score + amount;
  }

  /** Ties go to the lowest id. */
  private argmax(): number {
    const { scores } = this;
    let best = 0;
    let top = scores[0]!;
    for (let id = 1; id < scores.length; id++) {
      const score = scores[id]!;
      if (score > top) {
        top = score;
        best = id;
      }
    }
    return best;
  }

  /** Scores become weights relative to the best one, whose weight is 1. */
  private weigh(best: number, temperature: number): void {
    const { scores } = this;
    const top = scores[best]!;
    for (let id = 0; id < scores.length; id++) scores[id] = Math.exp((scores[id]! - top) / temperature);
  }

  /** Ids that may be drawn, ascending. */
  private keep({ topK, topP, minP }: SamplingParameters): number[] {
    const weights = this.scores;
    const floor = Math.max(NEGLIGIBLE, minP);
    const candidates: number[] = [];
    for (let id = 0; id < weights.length; id++) if (weights[id]! >= NEGLIGIBLE) candidates.push(id);
    if (topP >= 1 && (topK === 0 || topK >= candidates.length)) return candidates.filter((id) => weights[id]! >= floor);

    const heap = new MaxHeap(candidates, (a, b) => weights[a]! > weights[b]! || (weights[a] === weights[b] && a < b));
    let kept: number[] = [];
    let mass = 0;
    if (topK > 0) {
      while (kept.length < topK && heap.size > 0) kept.push(heap.pop());
      for (const id of kept) mass += weights[id]!;
      kept = untilMass(kept.values(), weights, topP * mass);
    } else {
      for (const id of candidates) mass += weights[id]!;
      kept = untilMass(heap.drain(), weights, topP * mass);
    }
    return kept.filter((id) => weights[id]! >= floor).sort((a, b) => a - b);
  }

  private pick(ids: number[], u: number): number {
    let mass = 0;
    for (const id of ids) mass += this.scores[id]!;
    let left = u * mass;
    for (const id of ids) {
      left -= this.scores[id]!;
      if (left < 0) return id;
    }
    // Rounding may leave a rest of a few ulps behind the last id.
    return ids[ids.length - 1]!;
  }
}

/** The shortest beginning of `ids` whose weights reach `mass`; at least one id. */
function untilMass(ids: Iterable<number>, weights: Float64Array, mass: number): number[] {
  const kept: number[] = [];
  let sum = 0;
  for (const id of ids) {
    kept.push(id);
    sum += weights[id]!;
    if (sum >= mass) break;
  }
  return kept;
}
