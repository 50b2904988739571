import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHUNK_ALONE, CHUNK_FIXED, nextChunk, PrefillPace } from './prefill-plan.js';

it('no chunk of a prompt is 1 modulo 64 long, whatever sizes load asks for, and together they are the prompt', () => {
  const sizes = fc.array(fc.constantFrom(CHUNK_ALONE, CHUNK_FIXED, 32), { minLength: 1 });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 2000 }), sizes, (length, plan) => {
      let remaining = length;
      for (let i = 0; remaining > 0; i++) {
        const size = plan[i % plan.length]!;
        const chunk = nextChunk(remaining, size);
        expect(chunk % 64).not.toBe(1);
        expect(chunk).toBeGreaterThan(0);
        expect(chunk).toBeLessThanOrEqual(size);
        remaining -= chunk;
      }
      expect(remaining).toBe(0);
    }),
    { numRuns: 3000 },
  );
});

it('a prompt of one token is one chunk', () => {
  expect(nextChunk(1, CHUNK_ALONE)).toBe(1);
});

describe('the pace of a model (ENGINE 4.4)', () => {
  const paced = (msPerToken: number, msPerStep = 1): PrefillPace => {
    const pace = new PrefillPace();
    pace.prefilled(64, 64 * msPerToken);
    pace.decoded(msPerStep);
    return pace;
  };

  it('alone a prompt is cut into the largest chunks, whatever they take', () => {
    expect(new PrefillPace().chunk(false)).toBe(CHUNK_ALONE);
    expect(paced(100).chunk(false)).toBe(CHUNK_ALONE);
  });

  it('while rows decode a chunk delays them for 40 ms or four of their steps, or is the smallest there is', () => {
    expect(new PrefillPace().chunk(true)).toBe(CHUNK_FIXED);
    expect(paced(0.3).chunk(true)).toBe(128);
    expect(paced(0.6).chunk(true)).toBe(64);
    expect(paced(1.2).chunk(true)).toBe(32);
    expect(paced(1.2, 20).chunk(true)).toBe(64);
    expect(paced(50).chunk(true)).toBe(32);
  });

  it('follows what it sees, and learns nothing from the rest of a prompt', () => {
    const pace = paced(0.3);
    pace.prefilled(2, 30);
    expect(pace.chunk(true)).toBe(128);
    for (let i = 0; i < 10; i++) pace.prefilled(128, 300);
    expect(pace.chunk(true)).toBe(32);
    for (let i = 0; i < 30; i++) pace.prefilled(32, 9);
    expect(pace.chunk(true)).toBe(128);
  });
});
