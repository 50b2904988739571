import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CHUNK_ALONE, CHUNK_BESIDE_DECODING, nextChunk } from './prefill-plan.js';

it('no chunk of a prompt is 1 modulo 64 long, whatever sizes load asks for, and together they are the prompt', () => {
  const sizes = fc.array(fc.constantFrom(CHUNK_ALONE, CHUNK_BESIDE_DECODING, 32), { minLength: 1 });
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
