import type { DecodeInput, LanguageModel } from '../generation/language-model.js';
import type { TextLayout } from '../../graphs/index.js';
import { KvSlab } from './kv-slab.js';
import type { OnnxSession, Tensors } from './session.js';
import type { CopiedCache } from './copied-cache.js';
import { GrownCache } from './grown-cache.js';
import { floats, halfToFloat, integers, mask, tensor, type FloatArray } from './tensor.js';

export type KvMode = 'in-place' | 'copying';

/** Several ids per row are taken in by one row alone; several rows take in one id each (ENGINE 2.4). */
interface Batch {
  first: number;
  ids: readonly (readonly number[])[];
  /** Tokens in each row's cache. */
  past: readonly number[];
}

export interface OnnxLanguageModelOptions {
  rows: number;
  contextLength: number;
  kvMode: KvMode;
}

/**
 * A text graph with its cache. `in-place` writes the cache where it is; `copying` moves it out and in. A graph of the
 * kind `concat` has to copy, and runs one row at a time: it cannot tell where a shorter row ends.
 */
export class OnnxLanguageModel implements LanguageModel {
  readonly vocabularySize: number;
  readonly contextLength: number;
  private readonly slab: KvSlab | null;
  private readonly copied: CopiedCache;
  private logits: FloatArray;

  constructor(
    private readonly session: OnnxSession,
    private readonly layout: TextLayout,
    private readonly options: OnnxLanguageModelOptions,
  ) {
    this.vocabularySize = layout.vocabularySize;
    this.contextLength = options.contextLength;
    const isConcat = layout.cacheKind === 'concat';
    this.slab = isConcat ? null : new KvSlab(layout.caches, options.rows, options.contextLength);
    this.copied = this.slab ?? new GrownCache(layout.caches);
    this.logits = floats(layout.logitsType, 0);
  }

  /** The rows, where what a run writes into them is all there is to a prompt; null: nothing of them can be reused. */
  get blockRows(): KvSlab | null {
    return this.options.kvMode === 'in-place' ? this.slab : null;
  }

  async prefill(row: number, ids: readonly number[], past: number): Promise<Float32Array> {
    const [logits] = await this.run({ first: row, ids: [ids], past: [past] });
    return logits!;
  }

  decode(inputs: readonly DecodeInput[], first: number): Promise<Float32Array[]> {
    return this.run({ first, ids: inputs.map(({ tokenId }) => [tokenId]), past: inputs.map(({ past }) => past) });
  }

  move(from: number, to: number, tokens: number): void {
    this.copied.move(from, to, tokens);
  }

  /** Logits of the last position of each row. */
  private async run(batch: Batch): Promise<Float32Array[]> {
    const width = this.positions(batch);
    const all = this.options.kvMode === 'in-place' ? this.runInPlace(batch) : await this.runCopying(batch);
    return batch.ids.map((_, b) => {
      const end = (b + 1) * width * this.vocabularySize;
      const last = all.subarray(end - this.vocabularySize, end);
      return last instanceof Uint16Array ? halfToFloat(last) : last;
    });
  }

  /** Of each row that the graph computes logits for. */
  private positions({ ids }: Batch): number {
    return Math.min(ids[0]!.length, this.layout.logitsPositions ?? Infinity);
  }

  private runInPlace(batch: Batch): FloatArray {
    const { caches, logitsType } = this.layout;
    const dims = [batch.ids.length, this.positions(batch), this.vocabularySize];
    const size = dims[0]! * dims[1]! * dims[2]!;
    if (this.logits.length < size) this.logits = floats(logitsType, size);
    const logits = this.logits.subarray(0, size);
    const feeds = this.inputs(batch);
    const fetches: Tensors = { logits: tensor(logitsType, logits, dims) };
    this.slab!.view(batch.first, batch.ids.length).forEach((view, i) => {
      feeds[caches[i]!.past] = view;
      fetches[caches[i]!.present] = view;
    });
    this.session.runInPlace!(feeds, fetches);
    return logits;
  }

  private async runCopying(batch: Batch): Promise<FloatArray> {
    const { caches } = this.layout;
    const feeds = this.inputs(batch);
    this.copied.take(batch.first, batch.past).forEach((copy, i) => {
      feeds[caches[i]!.past] = copy;
    });
    const results = await this.session.run(feeds);
    const present = caches.map((slot) => results[slot.present]!);
    this.copied.put(batch.first, present, batch.past, batch.ids[0]!.length);
    return results['logits']!.data as FloatArray;
  }

  /** The attention reads each row's length from the sum of its mask, so ones stand on the left (ENGINE 2.9). */
  private inputs({ ids, past }: Batch): Tensors {
    const rows = ids.length;
    const width = ids[0]!.length;
    const total = Math.max(...past) + width;
    const given: Tensors = {};
    const { keepInput } = this.layout;
    if (keepInput !== null) given[keepInput.name] = integers(keepInput.type, [1], keepInput.dims);
    for (const [name, type] of this.layout.integers) {
      if (name === 'attention_mask')
        given[name] = mask(
          type,
          past.map((length) => length + width),
          total,
        );
      else if (name === 'input_ids') given[name] = integers(type, ids.flat(), [rows, width]);
      else
        given[name] = integers(
          type,
          ids.flatMap((row, b) => row.map((_, i) => past[b]! + i)),
          [rows, width],
        );
    }
    return given;
  }
}
