import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alone, Bench, prompt } from '../../../test/support/scheduler-bench.js';
import { ONE_CLASS } from './kernel-rules.js';

/** As many prompts as there are beginnings and lengths; those with one beginning share it as far as both go. */
const asked = fc.record({
  first: fc.integer({ min: 1, max: 3 }),
  length: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom(64, 65, 66, 128, 129, 130)),
  tokens: fc.integer({ min: 1, max: 20 }),
  scope: fc.constantFrom('a', 'b', undefined),
  turns: fc.nat({ max: 6 }),
});

describe('beginnings of prompts under the scheduler', () => {
  it('change no token, whatever else moves, ends and is evicted meanwhile; only whole blocks of the scope are reused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(asked, { minLength: 2, maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 0, max: 6 }),
        fc.boolean(),
        async (requests, rows, blocks, loneRowDiffers) => {
          const bench = new Bench(rows, { ...ONE_CLASS, loneRowDiffers, alwaysBatch: loneRowDiffers }, blocks);
          for (const [i, { first, length, tokens, scope, turns }] of requests.entries()) {
            bench.add(`g${i}`, prompt(length, first), tokens, undefined, false, scope);
            await bench.run(turns);
          }
          await bench.run();
          for (const [i, { first, length, tokens, scope }] of requests.entries()) {
            expect(bench.ids(`g${i}`), `g${i}`).toEqual(await alone(prompt(length, first), tokens));
            const before = requests.slice(0, i).filter((other) => other.first === first && other.scope === scope);
            const longest = Math.max(0, ...before.map((other) => other.length));
            const reusable = scope === undefined ? 0 : Math.floor(Math.min(longest, length - 2) / 64) * 64;
            const reused = bench.reused(`g${i}`);
            expect(reused % 64).toBe(0);
            expect(reused).toBeLessThanOrEqual(Math.max(0, reusable));
          }
          expect(bench.heldBlocks).toBeLessThanOrEqual(blocks);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are there for a prompt that comes right behind the first, while that one decodes', async () => {
    const bench = new Bench(3, ONE_CLASS, 100);
    bench.add('first', prompt(200), 30, undefined, false, 'a');
    bench.add('second', prompt(260), 30, undefined, false, 'a');
    await bench.run();
    expect([bench.reused('first'), bench.reused('second')]).toEqual([0, 192]);
  });
});
