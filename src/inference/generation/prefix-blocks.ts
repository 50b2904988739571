import { createHash } from 'node:crypto';

/** Prompts are cut at multiples of this; behind such a cut the cache of a prompt is the same bit by bit (ENGINE 2.7). */
export const PREFIX_BLOCK_TOKENS = 64;

/** A rest of one token would be taken in by a kernel of its own, and somebody has to make the logits. */
const LEAST_REST_TOKENS = 2;

/** Names of the whole blocks of a prompt. Each stands for the scope and all ids up to the block's end. */
export function blockNames(scope: string, promptIds: readonly number[]): string[] {
  const names: string[] = [];
  let name = createHash('sha256').update(scope).digest('base64');
  for (let end = PREFIX_BLOCK_TOKENS; end <= promptIds.length; end += PREFIX_BLOCK_TOKENS) {
    const ids = Int32Array.from(promptIds.slice(end - PREFIX_BLOCK_TOKENS, end));
    name = createHash('sha256').update(name).update(ids).digest('base64');
    names.push(name);
  }
  return names;
}

/** How many of its blocks a prompt may find in the cache. */
export function reusableBlocks(promptTokens: number): number {
  return Math.max(0, Math.floor((promptTokens - LEAST_REST_TOKENS) / PREFIX_BLOCK_TOKENS));
}

/**
 * Blocks of prompts by their names, at most `capacity`; the least recently used one makes room. Prompts with the same
 * beginning share its blocks. Using a block uses all before it, so that a block never outlives the one before it.
 */
export class PrefixBlocks<Block extends object> {
  /** Least recently used first; of one prompt, the last block first. */
  private readonly blocks = new Map<string, Block>();

  constructor(
    private readonly capacity: number,
    private readonly create: () => Block,
  ) {}

  get size(): number {
    return this.blocks.size;
  }

  /** Those of the prompt that are there, from its beginning. */
  find(names: readonly string[]): Block[] {
    const missing = names.findIndex((name) => !this.blocks.has(name));
    const found = missing < 0 ? names : names.slice(0, missing);
    this.use(found);
    return found.map((name) => this.blocks.get(name)!);
  }

  /** Has the missing ones of a prompt filled, in order, as many as there is room for. */
  keep(names: readonly string[], fill: (block: Block, index: number) => void): void {
    this.use(names);
    const own = new Set(names);
    for (const [index, name] of names.entries()) {
      if (this.blocks.has(name)) continue;
      const block = this.vacant(own);
      if (block === null) break;
      fill(block, index);
      this.blocks.set(name, block);
    }
    this.use(names);
  }

  private use(names: readonly string[]): void {
    for (const name of [...names].reverse()) {
      const block = this.blocks.get(name);
      if (block === undefined) continue;
      this.blocks.delete(name);
      this.blocks.set(name, block);
    }
  }

  /** Memory for one more block; null: all of it is held by blocks that it would follow. */
  private vacant(own: ReadonlySet<string>): Block | null {
    if (this.blocks.size < this.capacity) return this.create();
    for (const [name, block] of this.blocks) {
      if (own.has(name)) return null;
      this.blocks.delete(name);
      return block;
    }
    return null;
  }
}
