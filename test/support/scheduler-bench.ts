import { expect } from 'vitest';
import { ONE_CLASS, type KernelRules } from '../../src/inference/generation/kernel-rules.js';
import type { DecodeInput, LanguageModel } from '../../src/inference/generation/language-model.js';
import { PREFIX_BLOCK_TOKENS } from '../../src/inference/generation/prefix-blocks.js';
import { PrefixModel, type BlockRows } from '../../src/inference/generation/prefix-model.js';
import { Scheduler } from '../../src/inference/generation/scheduler.js';
import type { TokenDecoder } from '../../src/inference/generation/text-assembler.js';
import type { TurnReport } from '../../src/inference/generation/turn-report.js';
import type {
  GenerationEnd,
  GenerationRequest,
  GenerationStep,
  LoggedToken,
} from '../../src/inference/inference-engine.js';

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
class RememberingModel implements LanguageModel, BlockRows<number[]> {
  readonly blockBytes = 1;
  readonly vocabularySize = VOCABULARY;
  readonly contextLength = 2000;
  readonly batches: number[] = [];
  failing = new Set<string>();
  /** What a token of a prompt takes. */
  msPerToken = 0;
  ms = 0;
  /** As on a processor with two kernel classes: what a run writes depends on whether it held one row. */
  loneRowDiffers = false;
  private readonly rows: number[][] = [];

  prefill(row: number, ids: readonly number[], past: number): Promise<Float32Array> {
    if (past === 0) this.rows[row] = [];
    expect(this.rows[row]!.length).toBeGreaterThanOrEqual(past);
    this.rows[row]!.length = past;
    this.rows[row]!.push(...ids);
    this.ms += ids.length * this.msPerToken;
    if (this.failing.has('prefill')) return Promise.reject(new Error('prefill failed'));
    return Promise.resolve(this.logits(row));
  }

  decode(inputs: readonly DecodeInput[], first: number): Promise<Float32Array[]> {
    this.batches.push(inputs.length);
    const lone = this.loneRowDiffers && inputs.length === 1;
    if (this.failing.has('decode')) return Promise.reject(new Error('decode failed'));
    return Promise.resolve(
      inputs.map(({ tokenId, past }, i) => {
        const row = first + i;
        const ids = (this.rows[row] ??= []);
        expect(ids.length).toBeGreaterThanOrEqual(past);
        ids.length = past;
        ids.push(lone ? tokenId + 0.5 : tokenId);
        return this.logits(row);
      }),
    );
  }

  move(from: number, to: number, tokens: number): void {
    this.rows[to] = this.rows[from]!.slice(0, tokens);
  }

  createBlock(): number[] {
    return [];
  }

  readBlock(row: number, index: number, block: number[]): void {
    block.splice(0, Infinity, ...this.rows[row]!.slice(index * PREFIX_BLOCK_TOKENS, (index + 1) * PREFIX_BLOCK_TOKENS));
    expect(block).toHaveLength(PREFIX_BLOCK_TOKENS);
  }

  writeBlock(row: number, index: number, block: number[]): void {
    this.rows[row] = [...(this.rows[row] ?? []).slice(0, index * PREFIX_BLOCK_TOKENS), ...block];
    expect(this.rows[row]).toHaveLength((index + 1) * PREFIX_BLOCK_TOKENS);
  }

  cache(row: number): number[] {
    return [...this.rows[row]!];
  }

  private logits(row: number): Float32Array {
    const ids = this.rows[row]!;
    const logits = new Float32Array(VOCABULARY);
    const sum = Math.floor(ids.reduce((total, id, i) => (total * 31 + 2 * id * (i + 1)) % 1009, 7));
    logits[1 + (sum % (VOCABULARY - 1))] = 5;
    // A row whose prompt began with 15 breaks at its third token.
    return ids[0] === 15 && ids.length === 5 ? logits.fill(NaN) : logits;
  }
}

/** A scheduler on such a model; acknowledges each step at once. */
export class Bench {
  readonly model = new RememberingModel();
  readonly steps = new Map<string, GenerationStep[]>();
  readonly ends = new Map<string, GenerationEnd>();
  readonly reports: TurnReport[] = [];
  readonly scheduler: Scheduler;

  private readonly remembering: PrefixModel<number[]>;

  /** `prefixBlocks`: beginnings of prompts that are kept, in blocks. */
  constructor(rows: number, rules: KernelRules = ONE_CLASS, prefixBlocks = 0) {
    this.model.loneRowDiffers = rules.loneRowDiffers;
    this.remembering = new PrefixModel(this.model, this.model, prefixBlocks);
    const take = (report: TurnReport): void => this.take(report);
    this.scheduler = new Scheduler(this.remembering, decoder, rows, take, { rules, clock: () => this.model.ms });
  }

  add(
    id: string,
    promptIds: number[],
    maxOutputTokens: number,
    replay?: LoggedToken[],
    alone = false,
    cacheScope?: string,
  ): void {
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
    const request: GenerationRequest = { id, promptIds, seed: 0, sampling, stop: [], maxOutputTokens, replay, alone };
    this.scheduler.add({ ...request, cacheScope });
  }

  async run(turns = Infinity): Promise<void> {
    for (let i = 0; i < turns; i++) if (!(await this.scheduler.turn())) return;
  }

  ids(id: string): number[] {
    return this.steps.get(id)?.map((step) => step.tokenId) ?? [];
  }

  /** Tokens of its prompt that were there. */
  reused(id: string): number {
    return this.reports.flatMap(({ prefilled }) => prefilled).find(([name]) => name === id)?.[2] ?? 0;
  }

  get heldBlocks(): number {
    return this.remembering.prefixBytes;
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

export const prompt = (length: number, first = 1): number[] =>
  Array.from({ length }, (_, i) => ((i * 7 + first) % 14) + 1);
export const PROMPTS = [3, 200, 64, 65, 1, 129, 500, 17].map((length, i) => prompt(length, i + 1));

/** Ids of a generation that has the model to itself. */
export async function alone(promptIds: number[], tokens: number): Promise<number[]> {
  const bench = new Bench(1);
  bench.add('alone', promptIds, tokens);
  await bench.run();
  return bench.ids('alone');
}
