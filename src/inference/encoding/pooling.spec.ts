import { describe, expect, it } from 'vitest';
import { normalized, pool, type Pooling } from './pooling.js';

/** Three tokens of two numbers, and one of padding behind them. */
const data = Float32Array.from([1, 2, 3, 4, 8, -6, 99, 99]);

describe('pooling', () => {
  it.each<[Pooling, number[]]>([
    ['mean', [4, 0]],
    ['cls', [1, 2]],
    ['lasttoken', [8, -6]],
    ['max', [8, 4]],
    ['mean_sqrt_len_tokens', [12 / Math.sqrt(3), 0]],
    ['weightedmean', [31 / 6, -8 / 6]],
  ])('%s of the tokens, not of the padding', (pooling, expected) => {
    expect([...pool({ data, tokens: 3, size: 2 }, pooling)]).toEqual([...Float32Array.from(expected)]);
  });

  it('brings a vector to length 1, but for one of zeros', () => {
    expect([...normalized(Float32Array.from([3, 4]))]).toEqual([...Float32Array.from([0.6, 0.8])]);
    expect([...normalized(new Float32Array(2))]).toEqual([0, 0]);
  });
});
