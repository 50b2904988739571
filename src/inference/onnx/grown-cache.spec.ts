import { describe, expect, it } from 'vitest';
import { GrownCache } from './grown-cache.js';
import { tensor } from './tensor.js';

const SLOT = { past: 'past', present: 'present', type: 'float32' as const, heads: 2, headSize: 1 };
const present = (...values: number[]) => [tensor('float32', Float32Array.from(values), [1, 2, values.length / 2, 1])];

describe('a cache that grows by each run', () => {
  it('is empty at first, then what the last run gave out', () => {
    const cache = new GrownCache([SLOT]);
    expect(cache.take(0, [0])[0]!.dims).toEqual([1, 2, 0, 1]);
    const given = present(1, 2, 3, 11, 12, 13);
    cache.put(0, given);
    expect(cache.take(0, [3])[0]).toBe(given[0]);
  });

  it('is cut where a run is done again from an earlier place, and begins anew', () => {
    const cache = new GrownCache([SLOT]);
    cache.put(0, present(1, 2, 3, 11, 12, 13));
    expect([...(cache.take(0, [2])[0]!.data as Float32Array)]).toEqual([1, 2, 11, 12]);
    expect(cache.take(0, [0])[0]!.data).toHaveLength(0);
  });

  it('goes with its row', () => {
    const cache = new GrownCache([SLOT]);
    const given = present(1, 11);
    cache.put(1, given);
    cache.move(1, 0);
    expect(cache.take(0, [1])[0]).toBe(given[0]);
  });
});
