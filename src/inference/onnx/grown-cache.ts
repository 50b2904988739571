import type { CacheSlot } from '../../graphs/index.js';
import type { CopiedCache } from './copied-cache.js';
import { floats, tensor, type FloatArray, type Tensor } from './tensor.js';

/** The caches of a graph that makes them longer by Concat: what a run gave out is what the next one takes in. */
export class GrownCache implements CopiedCache {
  private readonly rows: Tensor[][] = [];

  constructor(private readonly slots: readonly CacheSlot[]) {}

  take(first: number, [past = 0]: readonly number[]): Tensor[] {
    const held = this.rows[first];
    if (held === undefined || past === 0) return this.slots.map((slot) => cut(slot, undefined, 0));
    return held.map((one, i) => (one.dims[2] === past ? one : cut(this.slots[i]!, one, past)));
  }

  put(first: number, present: readonly Tensor[]): void {
    this.rows[first] = [...present];
  }

  move(from: number, to: number): void {
    const row = this.rows[from];
    if (row !== undefined) this.rows[to] = row;
  }
}

/** The first positions of one row. */
function cut({ type, heads, headSize }: CacheSlot, from: Tensor | undefined, length: number): Tensor {
  const data = floats(type, heads * length * headSize);
  const stride = (from?.dims[2] ?? 0) * headSize;
  for (let head = 0; head < (from ? heads : 0); head++) {
    const start = head * stride;
    data.set((from!.data as FloatArray).subarray(start, start + length * headSize), head * length * headSize);
  }
  return tensor(type, data, [1, heads, length, headSize]);
}
