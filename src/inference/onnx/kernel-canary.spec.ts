import { describe, expect, it } from 'vitest';
import type { TextLayout } from '../../graphs/index.js';
import { measureKernels } from './kernel-canary.js';
import type { OnnxSession, Tensors } from './session.js';

const LAYOUT: TextLayout = {
  cacheKind: 'in-place',
  caches: [{ past: 'past', present: 'present', type: 'float32', heads: 1, headSize: 1 }],
  integers: new Map([
    ['input_ids', 'int32'],
    ['attention_mask', 'int32'],
  ]),
  logitsType: 'float32',
  vocabularySize: 64,
  logitsPositions: 1,
  keepInput: null,
};
const OPTIONS = { kvMode: 'in-place', contextLength: 256, rows: 4, prefixes: true } as const;

/** A session whose cache is `written(id, tokens in the run of the row)`, and whose logits are a sum over the cache. */
function sessionOf(written: (id: number, width: number) => number): OnnxSession {
  const runInPlace = (feeds: Tensors, fetches: Tensors): void => {
    const [rows = 0, width = 0] = feeds['input_ids']!.dims;
    const [, total = 0] = feeds['attention_mask']!.dims;
    const ids = feeds['input_ids']!.data as Int32Array;
    const mask = feeds['attention_mask']!.data as Int32Array;
    const cache = feeds['past']!.data as Float32Array;
    const capacity = feeds['past']!.dims[2]!;
    const logits = fetches['logits']!.data as Float32Array;
    for (let row = 0; row < rows; row++) {
      const length = mask.subarray(row * total, (row + 1) * total).reduce((sum, one) => sum + one, 0);
      const held = cache.subarray(row * capacity, row * capacity + length);
      for (let i = 0; i < width; i++) held[length - width + i] = written(ids[row * width + i]!, width);
      logits.fill(
        held.reduce((sum, value, i) => sum + value * (i + 1), 0),
        row * LAYOUT.vocabularySize,
        (row + 1) * LAYOUT.vocabularySize,
      );
    }
  };
  return {
    inputs: [],
    outputs: [],
    runInPlace,
    run: () => Promise.reject(new Error('not in place')),
    dispose: () => Promise.resolve(),
  };
}

describe('the canary of a load (ENGINE 2.7)', () => {
  const exact = sessionOf((id) => id);

  it('finds that the beginning of a prompt may be reused', async () => {
    expect(await measureKernels(exact, LAYOUT, OPTIONS)).toMatchObject({ chunksEqual: true, prefixesEqual: true });
    expect(await measureKernels(exact, LAYOUT, { ...OPTIONS, rows: 1 })).toMatchObject({ prefixesEqual: true });
  });

  it('finds that it may not where a rest of this length writes other bits', async () => {
    const uneven = sessionOf((id, width) => (width === 66 ? id + 0.5 : id));
    expect(await measureKernels(uneven, LAYOUT, OPTIONS)).toMatchObject({ chunksEqual: true, prefixesEqual: false });
  });

  it('finds that it may not where what is written depends on the cut', async () => {
    const cut = sessionOf((id, width) => id + width);
    expect(await measureKernels(cut, LAYOUT, OPTIONS)).toMatchObject({ chunksEqual: false, prefixesEqual: false });
    const short = sessionOf((id, width) => (width === 32 ? id + 0.5 : id));
    expect(await measureKernels(short, LAYOUT, OPTIONS)).toMatchObject({ chunksEqual: false });
  });

  it.each([
    ['nobody wants it', { prefixes: false }],
    ['the context is too short to try', { contextLength: 100 }],
  ])('says nothing where %s', async (_, options) => {
    expect((await measureKernels(exact, LAYOUT, { ...OPTIONS, ...options })).prefixesEqual).toBeNull();
  });
});
