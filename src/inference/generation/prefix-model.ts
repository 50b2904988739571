import type { GenerationRequest } from '../inference-engine.js';
import type { DecodeInput, LanguageModel } from './language-model.js';
import { blockNames, PREFIX_BLOCK_TOKENS, PrefixBlocks, reusableBlocks } from './prefix-blocks.js';

/** The rows of a cache as far as the prefix cache goes: PREFIX_BLOCK_TOKENS positions at a time, counted from 0. */
export interface BlockRows<Block extends object> {
  readonly blockBytes: number;
  createBlock(): Block;
  readBlock(row: number, index: number, block: Block): void;
  writeBlock(row: number, index: number, block: Block): void;
}

/**
 * A model that remembers the beginnings of prompts (ENGINE 4.3): what a prompt's prefill wrote is copied out, block by
 * block, and copied into the row of the next prompt that begins alike and has the same scope. What decoding wrote is
 * never kept: its bits are others.
 */
export class PrefixModel<Block extends object> implements LanguageModel {
  readonly vocabularySize: number;
  readonly contextLength: number;
  private readonly blocks: PrefixBlocks<Block>;
  /** Of the prompt that is being taken in: one at a time. */
  private names: string[] = [];

  constructor(
    private readonly model: LanguageModel,
    private readonly rows: BlockRows<Block>,
    bytes: number,
  ) {
    this.vocabularySize = model.vocabularySize;
    this.contextLength = model.contextLength;
    this.blocks = new PrefixBlocks(Math.floor(bytes / rows.blockBytes), () => rows.createBlock());
  }

  get prefixBytes(): number {
    return this.blocks.size * this.rows.blockBytes;
  }

  admit(row: number, request: GenerationRequest): number {
    this.model.admit?.(row, request);
    const { cacheScope, promptIds } = request;
    this.names = cacheScope === undefined ? [] : blockNames(cacheScope, promptIds);
    const found = this.blocks.find(this.names.slice(0, reusableBlocks(promptIds.length)));
    for (const [index, block] of found.entries()) this.rows.writeBlock(row, index, block);
    return found.length * PREFIX_BLOCK_TOKENS;
  }

  async prefill(row: number, ids: readonly number[], past: number): Promise<Float32Array> {
    const logits = await this.model.prefill(row, ids, past);
    const whole = Math.floor((past + ids.length) / PREFIX_BLOCK_TOKENS);
    this.blocks.keep(this.names.slice(0, whole), (block, index) => this.rows.readBlock(row, index, block));
    return logits;
  }

  decode(inputs: readonly DecodeInput[], first: number): Promise<Float32Array[]> {
    return this.model.decode(inputs, first);
  }

  move(from: number, to: number, tokens: number): void {
    this.model.move(from, to, tokens);
  }
}
