import { describe, expect, it } from 'vitest';
import type { GenerationEnd, GenerationRequest, GenerationStep } from '../inference-engine.js';
import type { DecodeInput, LanguageModel } from './language-model.js';
import { Scheduler, type TurnReport } from './scheduler.js';
import type { TokenDecoder } from './text-assembler.js';

const VOCABULARY = 16;
const decoder: TokenDecoder = {
  decode: (ids) => ids.map((id) => `${id} `).join(''),
  endTokenIds: new Set([0]),
  hiddenTokenIds: new Set([0]),
  size: VOCABULARY,
};

/**
 * A model whose cache is the ids themselves: it checks at each call that the row holds what the scheduler says, which a
 * wrong move or a stale row would break. The next token is a function of all ids of the row.
 */
class RememberingModel implements LanguageModel {
  readonly vocabularySize = VOCABULARY;
  readonly contextLength = 2000;
  readonly batches: number[] = [];
  failing = new Set<string>();
  private readonly rows: number[][] = [];

  prefill(row: number, ids: readonly number[], past: number): Promise<Float32Array> {
    if (past === 0) this.rows[row] = [];
    expect(this.rows[row]).toHaveLength(past);
    this.rows[row]!.push(...ids);
    if (this.failing.has('prefill')) return Promise.reject(new Error('prefill failed'));
    return Promise.resolve(this.logits(row));
  }

  decode(inputs: readonly DecodeInput[]): Promise<Float32Array[]> {
    this.batches.push(inputs.length);
    if (this.failing.has('decode')) return Promise.reject(new Error('decode failed'));
    return Promise.resolve(
      inputs.map(({ tokenId, past }, row) => {
        const ids = this.rows[row]!;
        expect(ids.length).toBeGreaterThanOrEqual(past);
        ids.length = past;
        ids.push(tokenId);
        return this.logits(row);
      }),
    );
  }

  move(from: number, to: number, tokens: number): void {
    this.rows[to] = this.rows[from]!.slice(0, tokens);
  }

  private logits(row: number): Float32Array {
    const ids = this.rows[row]!;
    const logits = new Float32Array(VOCABULARY);
    const sum = ids.reduce((total, id, i) => (total * 31 + id * (i + 1)) % 1009, 7);
    logits[1 + (sum % (VOCABULARY - 1))] = 5;
    // A row whose prompt began with 15 breaks at its third token.
    return ids[0] === 15 && ids.length === 5 ? logits.fill(NaN) : logits;
  }
}

class Bench {
  readonly model = new RememberingModel();
  readonly steps = new Map<string, GenerationStep[]>();
  readonly ends = new Map<string, GenerationEnd>();
  readonly reports: TurnReport[] = [];
  readonly scheduler: Scheduler;

  constructor(rows: number) {
    this.scheduler = new Scheduler(this.model, decoder, rows, (report) => this.take(report));
  }

  add(id: string, promptIds: number[], maxOutputTokens: number): void {
    const sampling = {
      temperature: 0,
      topK: 0,
      topP: 1,
      minP: 0,
      repetitionPenalty: 1,
      presencePenalty: 0,
      frequencyPenalty: 0,
      logitBias: {},
    };
    const request: GenerationRequest = { id, promptIds, seed: 0, sampling, stop: [], maxOutputTokens };
    this.scheduler.add(request);
  }

  async run(turns = Infinity): Promise<void> {
    for (let i = 0; i < turns; i++) if (!(await this.scheduler.turn())) return;
  }

  ids(id: string): number[] {
    return this.steps.get(id)?.map((step) => step.tokenId) ?? [];
  }

  private take(report: TurnReport): void {
    this.reports.push(report);
    for (const [id, step] of report.steps) {
      this.steps.set(id, [...(this.steps.get(id) ?? []), step]);
      this.scheduler.acknowledge(id, step.index);
    }
    for (const [id, end] of report.ended) this.ends.set(id, end);
  }
}

const prompt = (length: number, first = 1): number[] => Array.from({ length }, (_, i) => ((i * 7 + first) % 14) + 1);
const PROMPTS = [3, 200, 64, 65, 1, 129, 500, 17].map((length, i) => prompt(length, i + 1));

async function alone(promptIds: number[], tokens: number): Promise<number[]> {
  const bench = new Bench(1);
  bench.add('alone', promptIds, tokens);
  await bench.run();
  return bench.ids('alone');
}

describe('the scheduler', () => {
  it('keeps every row in its own cache, while rows of all lengths come, end and are cancelled', async () => {
    const bench = new Bench(3);
    PROMPTS.forEach((ids, i) => bench.add(`g${i}`, ids, 5 + 3 * i));
    for (const cancelled of ['g2', 'g5', 'g6']) {
      await bench.run(7);
      bench.scheduler.cancel(cancelled);
    }
    await bench.run();
    for (const [i, ids] of PROMPTS.entries()) {
      const expected = await alone(ids, 5 + 3 * i);
      const seen = bench.ids(`g${i}`);
      expect(seen, `g${i}`).toEqual(expected.slice(0, seen.length));
      if (bench.ends.get(`g${i}`)!.outcome === 'finished') expect(seen).toHaveLength(expected.length);
    }
    expect(bench.ends.size).toBe(PROMPTS.length);
    expect(Math.max(...bench.model.batches)).toBe(3);
  });

  it('makes at most one step of a row and one prefill chunk per turn, in one report', async () => {
    const bench = new Bench(4);
    PROMPTS.forEach((ids, i) => bench.add(`g${i}`, ids, 10));
    await bench.run();
    for (const report of bench.reports) {
      expect(new Set(report.steps.map(([id]) => id)).size).toBe(report.steps.length);
      expect(report.prefilled.length).toBeLessThanOrEqual(1);
    }
    expect(bench.reports.at(-1)!.idle).toBe(true);
  });

  it('lets decoding rows go on between the chunks of a long prompt', async () => {
    const bench = new Bench(2);
    bench.add('short', prompt(3), 50);
    await bench.run(2);
    const before = bench.ids('short').length;
    bench.add('long', prompt(500), 5);
    await bench.run(5);
    expect(bench.ids('long')).toEqual([]);
    expect(bench.ids('short').length).toBe(before + 5);
  });

  it('fails the one row whose logits are unusable', async () => {
    const bench = new Bench(2);
    bench.add('broken', [15, 1, 2], 20);
    bench.add('sound', prompt(4), 20);
    await bench.run();
    expect(bench.ends.get('broken')).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('NaN') as string,
    });
    expect(bench.ids('sound')).toEqual(await alone(prompt(4), 20));
  });

  it('fails the rows of a failed run; a prompt on its way goes on in its own cache', async () => {
    const bench = new Bench(3);
    bench.add('a', prompt(3), 50);
    bench.add('b', prompt(4), 50);
    await bench.run(4);
    bench.add('late', prompt(300), 5);
    await bench.run(1);
    bench.model.failing.add('decode');
    await bench.run(1);
    bench.model.failing.clear();
    await bench.run();
    expect(bench.ends.get('a')).toEqual({ outcome: 'failed', message: 'decode failed' });
    expect(bench.ends.get('b')).toEqual({ outcome: 'failed', message: 'decode failed' });
    expect(bench.ids('late')).toEqual(await alone(prompt(300), 5));
  });

  it('fails a prompt whose chunk fails, and takes the next', async () => {
    const bench = new Bench(1);
    bench.add('a', prompt(3), 5);
    bench.model.failing.add('prefill');
    await bench.run(1);
    bench.model.failing.clear();
    bench.add('b', prompt(3), 5);
    await bench.run();
    expect(bench.ends.get('a')).toEqual({ outcome: 'failed', message: 'prefill failed' });
    expect(bench.ends.get('b')).toEqual({ outcome: 'finished', finish: 'limit' });
  });

  it('drops a cancelled prompt between chunks and a waiting one before its first', async () => {
    const bench = new Bench(1);
    bench.add('long', prompt(600), 5);
    bench.add('waiting', prompt(3), 5);
    await bench.run(2);
    bench.scheduler.cancel('long');
    bench.scheduler.cancel('waiting');
    await bench.run();
    expect(bench.ends).toEqual(
      new Map([
        ['long', { outcome: 'cancelled' }],
        ['waiting', { outcome: 'cancelled' }],
      ]),
    );
    expect(bench.reports.flatMap((report) => report.prefilled)).toEqual([
      ['long', 128],
      ['long', 256],
    ]);
  });
});
