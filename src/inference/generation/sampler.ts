import { hasToken, type TokenSet } from '../constraint/token-trie.js';
import type { SamplingParameters } from '../inference-engine.js';
import { decay } from './decay.js';
import { MaxHeap } from './max-heap.js';
import { uniform } from './random.js';

/** Weights below this share of the largest are never drawn. */
export const NEGLIGIBLE = 1e-8;

/** The upper half of the double 1, and which of its bits tell weights apart: 32 classes of them for each halving. */
const UPPER_OF_ONE = 0x3ff00000;
const CLASS_SHIFT = 15;
const CLASSES = 32 * Math.ceil(-Math.log2(NEGLIGIBLE)) + 1;
/** What sums of the same weights in another order may differ by. */
const ROUNDING = 1e-9;

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
  /** Of all ids their scores, then their weights. */
  private readonly scores: Float64Array;
  /** The halves of the same doubles, the upper one of each behind the lower one: the runtime knows little-endian machines only. */
  private readonly halves: Int32Array;
  private readonly classMass = new Float64Array(CLASSES);
  private readonly classSize = new Int32Array(CLASSES);

  constructor(vocabularySize: number) {
    this.scores = new Float64Array(vocabularySize);
    this.halves = new Int32Array(this.scores.buffer);
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
    this.keep(parameters);
    return this.pick(uniform(seed, index));
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

  /** Scores become weights relative to the best one, whose weight is 1; what is negligible becomes 0. */
  private weigh(best: number, temperature: number): void {
    const { scores } = this;
    const top = scores[best]!;
    for (let id = 0; id < scores.length; id++) {
      const weight = decay((top - scores[id]!) / temperature);
      scores[id] = weight >= NEGLIGIBLE ? weight : 0;
    }
  }

  /** Weights of ids that may not be drawn become 0. */
  private keep({ topK, topP, minP }: SamplingParameters): void {
    const weights = this.scores;
    if (topK > 0 || topP < 1) {
      const kept = this.nucleus(topK, topP).map((id) => [id, weights[id]!] as const);
      weights.fill(0);
      for (const [id, weight] of kept) weights[id] = weight;
    }
    if (minP <= NEGLIGIBLE) return;
    for (let id = 0; id < weights.length; id++) if (weights[id]! < minP) weights[id] = 0;
  }

  /** The fewest ids, likeliest first, that have `topP` of the weight of the `topK` likeliest, or of all where that is 0. */
  private nucleus(topK: number, topP: number): number[] {
    const weights = this.scores;
    const wanted = topK > 0 ? 0 : topP * this.mass();
    const heap = new MaxHeap(
      this.likeliest(topK, wanted),
      (a, b) => weights[a]! > weights[b]! || (weights[a] === weights[b] && a < b),
    );
    if (topK === 0) return untilMass(heap.drain(), weights, wanted);
    const kept: number[] = [];
    let mass = 0;
    while (kept.length < topK && heap.size > 0) mass += weights[kept[kept.push(heap.pop()) - 1]!]!;
    return untilMass(kept, weights, topP * mass);
  }

  /**
   * Ids among which are the `count` likeliest, and enough of the likeliest for `mass`: a few hundred as a rule, so that
   * the vocabulary need not be put in order. Weights are sorted into classes by their leading bits, whose order is theirs.
   */
  private likeliest(count: number, mass: number): number[] {
    const { scores: weights, halves, classMass, classSize } = this;
    classMass.fill(0);
    classSize.fill(0);
    for (let id = 0; id < weights.length; id++) {
      const weight = weights[id]!;
      if (weight === 0) continue;
      const place = (UPPER_OF_ONE - halves[2 * id + 1]!) >> CLASS_SHIFT;
      classMass[place] = classMass[place]! + weight;
      classSize[place] = classSize[place]! + 1;
    }
    let last = 0;
    let size = classSize[0]!;
    let sum = classMass[0]!;
    while (last < CLASSES - 1 && (size < count || sum < mass * (1 + ROUNDING))) {
      last++;
      size += classSize[last]!;
      sum += classMass[last]!;
    }
    const ids: number[] = [];
    for (let id = 0; id < weights.length; id++) {
      if (weights[id] !== 0 && (UPPER_OF_ONE - halves[2 * id + 1]!) >> CLASS_SHIFT <= last) ids.push(id);
    }
    return ids;
  }

  private mass(): number {
    const weights = this.scores;
    let mass = 0;
    for (let id = 0; id < weights.length; id++) mass += weights[id]!;
    return mass;
  }

  private pick(u: number): number {
    const weights = this.scores;
    let left = u * this.mass();
    for (let id = 0; id < weights.length; id++) if ((left -= weights[id]!) < 0) return id;
    // Rounding may leave a rest of a few ulps behind the last id.
    let last = weights.length - 1;
    while (weights[last] === 0) last--;
    return last;
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
