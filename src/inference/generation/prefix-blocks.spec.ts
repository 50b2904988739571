import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockNames, PREFIX_BLOCK_TOKENS, PrefixBlocks, reusableBlocks } from './prefix-blocks.js';

/** Prompts of few ids, so that many of them begin alike. */
const promptIds = fc
  .tuple(fc.array(fc.nat({ max: 1 }), { maxLength: 5 }), fc.nat({ max: PREFIX_BLOCK_TOKENS - 1 }))
  .map(([blocks, rest]) => [
    ...blocks.flatMap((id) => Array<number>(PREFIX_BLOCK_TOKENS).fill(id)),
    ...Array<number>(rest).fill(7),
  ]);
const scope = fc.constantFrom('a', 'b');

describe('the names of the blocks of a prompt', () => {
  it('are equal exactly where the scope and all ids up to the end of the block are', () => {
    fc.assert(
      fc.property(scope, promptIds, scope, promptIds, (oneScope, one, otherScope, other) => {
        const names = blockNames(otherScope, other);
        blockNames(oneScope, one).forEach((name, i) => {
          const end = (i + 1) * PREFIX_BLOCK_TOKENS;
          const isSame =
            oneScope === otherScope && other.length >= end && one.slice(0, end).join() === other.slice(0, end).join();
          expect(names[i] === name).toBe(isSame);
          expect(names.includes(name)).toBe(isSame);
        });
      }),
    );
  });

  it('are of whole blocks only, of which those may be reused that leave 2 tokens to take in (ENGINE 4.3)', () => {
    const lengths = [0, 1, 63, 64, 65, 66, 127, 128, 129, 130, 2048];
    expect(lengths.map((length) => blockNames('a', Array<number>(length).fill(3)).length)).toEqual([
      0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 32,
    ]);
    expect(lengths.map(reusableBlocks)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 31]);
  });
});

describe('the blocks of prompts', () => {
  const kept = (capacity: number) => {
    const made: { index: number; name: string }[] = [];
    const blocks = new PrefixBlocks(capacity, () => {
      made.push({ index: -1, name: '' });
      return made.at(-1)!;
    });
    const keep = (names: string[]): void =>
      blocks.keep(names, (block, index) => Object.assign(block, { index, name: names[index] }));
    return { blocks, made, keep };
  };

  it('are never more than there is room for, and each is what was kept under its name behind the one before it', () => {
    const use = fc.record({ scope, promptIds, isKept: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8 }), fc.array(use, { maxLength: 60 }), (capacity, uses) => {
        const { blocks, made, keep } = kept(capacity);
        for (const { scope, promptIds, isKept } of uses) {
          const names = blockNames(scope, promptIds);
          if (isKept) keep(names);
          expect(made.length).toBeLessThanOrEqual(capacity);
          expect(blocks.size).toBeLessThanOrEqual(capacity);
          const found = blocks.find(names);
          expect(found.map(({ name, index }) => [name, index])).toEqual(found.map((_, i) => [names[i], i]));
          if (isKept) expect(found).toHaveLength(Math.min(names.length, capacity));
        }
      }),
    );
  });

  it('go in the order of their last use, the end of a prompt before its beginning', () => {
    const { blocks, keep } = kept(5);
    keep(['a', 'ab']);
    keep(['a', 'ac']);
    keep(['d', 'de']);
    expect(blocks.find(['a', 'ab'])).toHaveLength(2);
    keep(['f']);
    expect(blocks.find(['a', 'ac'])).toHaveLength(1);
    keep(['f', 'fg']);
    expect(blocks.find(['d', 'de'])).toHaveLength(1);
    expect(blocks.find(['a', 'ab'])).toHaveLength(2);
    expect(blocks.find(['f', 'fg'])).toHaveLength(2);
  });

  it('of a prompt that is longer than the room are those of its beginning', () => {
    const { blocks, keep } = kept(2);
    keep(['x']);
    keep(['a', 'ab', 'abc', 'abcd']);
    expect(blocks.find(['a', 'ab', 'abc', 'abcd'])).toHaveLength(2);
    expect(blocks.find(['x'])).toEqual([]);
  });
});
