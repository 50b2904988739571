import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SamplingParameters } from '../inference-engine.js';
import { uniform } from './random.js';
import { NEGLIGIBLE, Sampler, TokenHistory, UnusableLogits } from './sampler.js';

const PLAIN: SamplingParameters = {
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  logitBias: {},
};

/** Computed by an independent implementation of the same rules. */
const GOLDEN_SEQUENCE = [31, 16, 47, 25, 4, 31, 4, 8, 35, 4, 32, 31];

interface Drawing {
  logits: number[];
  parameters?: Partial<SamplingParameters>;
  prompt?: number[];
  output?: number[];
  seed?: number;
  index?: number;
}

function historyOf({ prompt = [], output = [] }: Drawing): TokenHistory {
  const history = new TokenHistory(prompt);
  for (const id of output) history.add(id);
  return history;
}

function draw(drawing: Drawing): number {
  const { logits, parameters = {}, seed = 1, index = 0 } = drawing;
  const sampler = new Sampler(logits.length);
  return sampler.draw(Float32Array.from(logits), { ...PLAIN, ...parameters }, historyOf(drawing), { seed, index });
}

/** The same rules, written down plainly: sorts everything, builds new lists at each rule. */
function reference({ logits, parameters = {}, prompt = [], output = [], seed = 1, index = 0 }: Drawing): number {
  const p = { ...PLAIN, ...parameters };
  const scores = [...Float32Array.from(logits)].map((logit, id) => {
    let score = logit + (p.logitBias[id] ?? 0);
    if (prompt.includes(id) || output.includes(id))
      score = score > 0 ? score / p.repetitionPenalty : score * p.repetitionPenalty;
    const count = output.filter((other) => other === id).length;
    return count > 0 ? score + (-p.presencePenalty - p.frequencyPenalty * count) : score;
  });
  const best = Math.max(...scores);
  if (p.temperature === 0) return scores.indexOf(best);
  const all = scores.map((score, id) => ({ id, weight: Math.exp((score - best) / p.temperature) }));
  const byId = (a: { id: number }, b: { id: number }): number => a.id - b.id;
  const sum = (list: { weight: number }[]): number => list.reduce((total, { weight }) => total + weight, 0);
  let kept = all.filter(({ weight }) => weight >= NEGLIGIBLE);
  const mass = sum(kept);
  kept.sort((a, b) => b.weight - a.weight || a.id - b.id);
  const isCut = p.topK > 0 && p.topK < kept.length;
  if (p.topK > 0) kept = kept.slice(0, p.topK);
  if (p.topP < 1 || isCut) {
    const wanted = p.topP * (p.topK > 0 ? sum(kept) : mass);
    let reached = 0;
    const enough = kept.findIndex(({ weight }) => (reached += weight) >= wanted);
    if (enough >= 0) kept = kept.slice(0, enough + 1);
  }
  kept = kept.filter(({ weight }) => weight >= p.minP).sort(byId);
  let left = uniform(seed, index) * sum(kept);
  for (const { id, weight } of kept) if ((left -= weight) < 0) return id;
  return kept.at(-1)!.id;
}

/** Roughly normal, by seed and index. */
function normal(seed: number, index: number): number {
  const each = [0, 1, 2, 3].map((k) => uniform(Math.abs(seed), 4 * index + k));
  return each.reduce((sum, value) => sum + value, -2) * Math.sqrt(3);
}

describe('the sampler', () => {
  it('equals a slow reference for any logits, parameters and history', () => {
    const id = fc.nat(11);
    const drawing = fc.record<Drawing>({
      logits: fc.array(fc.double({ min: -30, max: 30, noNaN: true }).map(Math.fround), {
        minLength: 12,
        maxLength: 12,
      }),
      parameters: fc.record({
        temperature: fc.constantFrom(0, 0.01, 0.7, 1, 2),
        topK: fc.constantFrom(0, 1, 3, 12, 40),
        topP: fc.constantFrom(0, 0.1, 0.5, 0.9, 1),
        minP: fc.constantFrom(0, 0.05, 0.5, 1),
        repetitionPenalty: fc.constantFrom(1, 0.8, 1.3),
        presencePenalty: fc.constantFrom(0, -2, 0.5),
        frequencyPenalty: fc.constantFrom(0, 1.5),
        logitBias: fc.dictionary(id.map(String), fc.integer({ min: -100, max: 100 }), { maxKeys: 3 }),
      }),
      prompt: fc.array(id, { maxLength: 5 }),
      output: fc.array(id, { maxLength: 8 }),
      seed: fc.maxSafeNat(),
      index: fc.nat(5000),
    });
    fc.assert(
      fc.property(drawing, (each) => {
        expect(draw(each)).toBe(reference(each));
      }),
      { numRuns: 2000 },
    );
  });

  it('equals it for vocabularies whose likeliest tokens are found without sorting them all', () => {
    const drawing = fc.record<Drawing>({
      logits: fc
        .tuple(fc.integer(), fc.constantFrom(0.5, 4, 20))
        .map(([seed, spread]) => Array.from({ length: 1500 }, (_, i) => Math.fround(spread * normal(seed, i)))),
      parameters: fc.record({
        temperature: fc.constantFrom(0.3, 1, 2),
        topK: fc.constantFrom(0, 1, 40, 700),
        topP: fc.constantFrom(0, 0.5, 0.95, 0.9999, 1),
        minP: fc.constantFrom(0, 0.05),
      }),
      seed: fc.maxSafeNat(),
    });
    fc.assert(
      fc.property(drawing, (each) => {
        expect(draw(each)).toBe(reference(each));
      }),
      { numRuns: 60 },
    );
  });

  it('draws each token as often as its probability says', () => {
    const logits = [Math.log(1), Math.log(2), Math.log(3), Math.log(4)];
    const counts = [0, 0, 0, 0];
    for (let index = 0; index < 10_000; index++) counts[draw({ logits, index })]!++;
    counts.forEach((count, i) => expect(Math.abs(count - (i + 1) * 1000)).toBeLessThan(200));
  });

  it('takes the highest logit at temperature 0, of equal ones the lowest id', () => {
    expect(draw({ logits: [1, 5, 5, 2], parameters: { temperature: 0 } })).toBe(1);
  });

  it('draws by seed and index alone: the golden sequence', () => {
    const logits = Array.from({ length: 50 }, (_, i) => ((i * 37) % 50) / 10);
    const sequence = (seed: number): number[] =>
      Array.from({ length: 12 }, (_, index) => draw({ logits, seed, index }));
    expect(sequence(42)).toEqual(GOLDEN_SEQUENCE);
    expect(sequence(43)).not.toEqual(GOLDEN_SEQUENCE);
  });

  it('keeps the k best, the nucleus, and what is near enough to the best', () => {
    const logits = [Math.log(0.5), Math.log(0.3), Math.log(0.15), Math.log(0.05)];
    const reachable = (parameters: Partial<SamplingParameters>): number[] =>
      [...new Set(Array.from({ length: 400 }, (_, index) => draw({ logits, parameters, index })))].sort();
    expect(reachable({})).toEqual([0, 1, 2, 3]);
    expect(reachable({ topK: 2 })).toEqual([0, 1]);
    expect(reachable({ topP: 0.81 })).toEqual([0, 1, 2]);
    expect(reachable({ topP: 0 })).toEqual([0]);
    expect(reachable({ minP: 0.25 })).toEqual([0, 1, 2]);
  });

  it('penalises what was seen: prompt and output by repetition, output alone by presence and frequency', () => {
    const greedy = { temperature: 0 };
    expect(draw({ logits: [2, 1.9], prompt: [0], parameters: { ...greedy, repetitionPenalty: 1.2 } })).toBe(1);
    expect(draw({ logits: [2, 1.9], prompt: [0], parameters: { ...greedy, presencePenalty: 1 } })).toBe(0);
    expect(draw({ logits: [2, 1.9], output: [0], parameters: { ...greedy, presencePenalty: 1 } })).toBe(1);
    expect(draw({ logits: [2, 1.5], output: [0, 0], parameters: { ...greedy, frequencyPenalty: 0.3 } })).toBe(1);
    expect(draw({ logits: [2, 1.5], output: [0], parameters: { ...greedy, frequencyPenalty: 0.3 } })).toBe(0);
  });

  it('adds the logit bias', () => {
    expect(draw({ logits: [2, 1], parameters: { temperature: 0, logitBias: { 1: 5 } } })).toBe(1);
  });

  it.each([NaN, Infinity, -Infinity])('refuses a logit of %s', (bad) => {
    expect(() => draw({ logits: [1, bad, 2] })).toThrow(UnusableLogits);
  });

  it('never draws ids beyond the tokenizer, though the model has logits for them (ENGINE 7.13)', () => {
    const sampler = new Sampler(2);
    expect(
      sampler.draw(Float32Array.of(1, 2, 9), { ...PLAIN, temperature: 0 }, new TokenHistory([]), { seed: 1, index: 0 }),
    ).toBe(1);
  });
});
