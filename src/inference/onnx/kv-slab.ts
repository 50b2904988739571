import { PREFIX_BLOCK_TOKENS } from '../generation/prefix-blocks.js';
import type { BlockRows } from '../generation/prefix-model.js';
import { floats, tensor, type FloatArray, type Tensor } from './tensor.js';
import type { CopiedCache } from './copied-cache.js';
import type { CacheSlot } from '../../graphs/index.js';

/** Some positions of one row: per cache tensor [heads, positions, headSize]. */
export type KvBlock = FloatArray[];

/**
 * The cache of all rows: per cache tensor one block [rows, heads, capacity, headSize]. The system commits memory when
 * it is first written, so rows are laid out at full context length and cost what was used (ENGINE 2.1).
 */
export class KvSlab implements CopiedCache, BlockRows<KvBlock> {
  readonly blockBytes: number;
  private readonly blocks: FloatArray[];
  private lastView: { first: number; count: number; tensors: readonly Tensor[] } | null = null;

  constructor(
    private readonly slots: readonly CacheSlot[],
    rows: number,
    private readonly capacity: number,
  ) {
    this.blockBytes = this.createBlock().reduce((bytes, { byteLength }) => bytes + byteLength, 0);
    this.blocks = slots.map(({ type, heads, headSize }) => floats(type, rows * heads * capacity * headSize));
  }

  /** `count` rows from `first` as one tensor per slot, sharing the slab's memory. One step's are most often the next one's. */
  view(first: number, count: number): readonly Tensor[] {
    const { lastView } = this;
    if (lastView?.first === first && lastView.count === count) return lastView.tensors;
    const tensors = this.slots.map(({ type, heads, headSize }, i) => {
      const row = heads * this.capacity * headSize;
      const data = this.blocks[i]!.subarray(first * row, (first + count) * row);
      return tensor(type, data, [count, heads, this.capacity, headSize]);
    });
    this.lastView = { first, count, tensors };
    return tensors;
  }

  /** Copied to tensors of exactly that length. */
  take(first: number, past: readonly number[]): Tensor[] {
    const count = past.length;
    const length = Math.max(...past);
    return this.slots.map(({ type, heads, headSize }, i) => {
      const data = floats(type, count * heads * length * headSize);
      for (let head = 0; head < count * heads; head++) {
        const from = (first * heads + head) * this.capacity * headSize;
        data.set(this.blocks[i]!.subarray(from, from + length * headSize), head * length * headSize);
      }
      return tensor(type, data, [count, heads, length, headSize]);
    });
  }

  /** Takes positions `from[b]`..`from[b] + added - 1` of each row from tensors like those of `take`, only longer. */
  put(first: number, present: readonly Tensor[], from: readonly number[], added: number): void {
    this.slots.forEach(({ heads, headSize }, i) => {
      const source = present[i]!;
      const length = source.dims[2]!;
      from.forEach((start, b) => {
        for (let head = 0; head < heads; head++) {
          const at = ((b * heads + head) * length + start) * headSize;
          const to = (((first + b) * heads + head) * this.capacity + start) * headSize;
          this.blocks[i]!.set((source.data as FloatArray).subarray(at, at + added * headSize), to);
        }
      });
    });
  }

  createBlock(): KvBlock {
    return this.slots.map(({ type, heads, headSize }) => floats(type, heads * PREFIX_BLOCK_TOKENS * headSize));
  }

  readBlock(row: number, index: number, block: KvBlock): void {
    this.eachHead(row, index, (slot, held, at) => block[slot]!.set(held, at));
  }

  writeBlock(row: number, index: number, block: KvBlock): void {
    this.eachHead(row, index, (slot, held, at) => held.set(block[slot]!.subarray(at, at + held.length)));
  }

  /** The block's part of each head of the row, and where it stands in the block. */
  private eachHead(row: number, index: number, visit: (slot: number, held: FloatArray, at: number) => void): void {
    this.slots.forEach(({ heads, headSize }, slot) => {
      const size = PREFIX_BLOCK_TOKENS * headSize;
      for (let head = 0; head < heads; head++) {
        const start = (row * heads + head) * this.capacity * headSize + index * size;
        visit(slot, this.blocks[slot]!.subarray(start, start + size), head * size);
      }
    });
  }

  /** Copies the first `tokens` positions of a row over those of another. */
  move(from: number, to: number, tokens: number): void {
    this.slots.forEach(({ heads, headSize }, i) => {
      const stride = this.capacity * headSize;
      for (let head = 0; head < heads; head++) {
        const start = (from * heads + head) * stride;
        this.blocks[i]!.copyWithin((to * heads + head) * stride, start, start + tokens * headSize);
      }
    });
  }
}
