import { describe, expect, it } from 'vitest';
import { uniform } from './random.js';

describe('the counter-based random numbers', () => {
  // Computed by an independent implementation; a change here changes every seeded output.
  it.each([
    [0, 0, 0.28176129772258496],
    [0, 1, 0.6524484863740322],
    [1, 0, 0.8628561488610587],
    [42, 7, 0.19535155971618223],
    [Number.MAX_SAFE_INTEGER, 1_000_000, 0.34869200137286704],
  ])('of seed %d at index %d is the golden one', (seed, index, expected) => {
    expect(uniform(seed, index)).toBe(expected);
  });

  it('are spread evenly over [0, 1), along the index and along the seed', () => {
    for (const at of [(i: number) => uniform(7, i), (i: number) => uniform(i, 7)]) {
      const tenths = new Array<number>(10).fill(0);
      for (let i = 0; i < 10_000; i++) tenths[Math.floor(at(i) * 10)]!++;
      // Expected 1000 each, deviation 30: five deviations, and deterministic anyway.
      for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
    }
  });
});
