import { describe, expect, it } from 'vitest';
import { KvSlab } from './kv-slab.js';
import { halfToFloat, tensor } from './tensor.js';

const SLOT = { past: 'past', present: 'present', type: 'float32' as const, heads: 2, headSize: 3 };
const CAPACITY = 5;

/** A tensor [rows, heads, length, headSize] whose values tell their place: row, head, position, element. */
function placed(rows: number, length: number): { data: Float32Array; dims: number[] } {
  const values: number[] = [];
  for (let row = 0; row < rows; row++)
    for (let head = 0; head < 2; head++)
      for (let at = 0; at < length; at++)
        for (let i = 0; i < 3; i++) values.push(row * 1000 + head * 100 + at * 10 + i + 1);
  return { data: Float32Array.from(values), dims: [rows, 2, length, 3] };
}
const filled = (rows: number): KvSlab => {
  const slab = new KvSlab([SLOT], rows, CAPACITY);
  const { data, dims } = placed(rows, 4);
  slab.put(0, [tensor('float32', data, dims)], Array<number>(rows).fill(0), 4);
  return slab;
};

describe('the cache slab', () => {
  it('gives back what was put in, at exact length', () => {
    const [copy] = filled(3).take(0, [4, 4, 4]);
    expect(copy!.dims).toEqual([3, 2, 4, 3]);
    expect(copy!.data).toEqual(placed(3, 4).data);
  });

  it('shows rows as views of the same memory', () => {
    const slab = filled(3);
    const [view] = slab.view(1, 2);
    expect(view!.dims).toEqual([2, 2, CAPACITY, 3]);
    expect(view!.data[0]).toBe(1001);
    view!.data[0] = -1;
    expect(slab.take(1, [1])[0]!.data[0]).toBe(-1);
  });

  it('takes the new positions of each row, wherever the row stands, and leaves the others', () => {
    const slab = new KvSlab([SLOT], 2, CAPACITY);
    const { data, dims } = placed(2, 4);
    slab.put(0, [tensor('float32', data, dims)], [3, 1], 1);
    const [first, second] = [slab.take(0, [4])[0]!.data, slab.take(1, [4])[0]!.data];
    expect([...first].filter(Boolean)).toEqual([31, 32, 33, 131, 132, 133]);
    expect([...second].filter(Boolean)).toEqual([1011, 1012, 1013, 1111, 1112, 1113]);
  });

  it('moves the used part of a row', () => {
    const slab = filled(3);
    slab.move(2, 0, 2);
    const expected = slab.take(2, [2])[0]!.data;
    expect(slab.take(0, [2])[0]!.data).toEqual(expected);
    expect(slab.take(0, [3])[0]!.data[6]).toBe(21);
  });
});

describe('float16', () => {
  it('becomes float32 by its bit patterns', () => {
    const patterns = Uint16Array.of(0, 0x3c00, 0xc000, 0x3555, 0x7bff, 0x0001, 0x8000, 0x7c00, 0x7e00);
    expect([...halfToFloat(patterns)]).toEqual([
      0,
      1,
      -2,
      Math.fround(1365 / 4096),
      65504,
      2 ** -24,
      -0,
      Infinity,
      NaN,
    ]);
  });

  it('gives back blocks of a row, to any row, and nothing else of it changes', () => {
    const slab = new KvSlab([SLOT], 3, 150);
    const { data, dims } = placed(3, 150);
    slab.put(0, [tensor('float32', data, dims)], [0, 0, 0], 150);
    const block = slab.createBlock();
    expect(block.reduce((bytes, { byteLength }) => bytes + byteLength, 0)).toBe(slab.blockBytes);
    slab.readBlock(0, 1, block);
    slab.writeBlock(2, 1, block);
    const expected = data.slice();
    for (const head of [0, 1]) {
      const from = (head * 150 + 64) * 3;
      expected.copyWithin((2 * 2 * 150 + head * 150 + 64) * 3, from, from + 64 * 3);
    }
    expect(slab.take(0, [150, 150, 150])[0]!.data).toEqual(expected);
    expect(expected).not.toEqual(data);
  });
});
