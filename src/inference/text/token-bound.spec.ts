import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTokenizer } from '../generation/token-decoder.js';
import { leastTokens, longestToken } from './token-bound.js';

const POCKET = new URL('../../../models/pocket/', import.meta.url).pathname;
const content = JSON.parse(readFileSync(`${POCKET}tokenizer.json`, 'utf8')) as Record<string, unknown>;

describe('longestToken', () => {
  it('of the embedded model is a bound: no text has fewer tokens than its bytes by that', async () => {
    const { tokenizer } = await readTokenizer(POCKET);
    const longest = longestToken(content)!;
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.lorem({ maxCount: 50 }),
      fc.constant('<|im_start|>\n'.repeat(9)),
    );
    fc.assert(
      fc.property(text, (some) => {
        const { ids } = tokenizer.encode(some, { add_special_tokens: false });
        expect(ids.length * longest).toBeGreaterThanOrEqual(Buffer.byteLength(some));
      }),
    );
  });

  it('leaves room for what composing characters may save', () => {
    expect(longestToken({ ...content, normalizer: { type: 'NFC' } })).toBe(4 * longestToken(content)!);
  });

  it.each([
    ['words that are unknown as a whole', { model: { type: 'WordPiece', vocab: {} } }],
    ['another normaliser', { normalizer: { type: 'Sequence', normalizers: [] } }],
    ['text that is dropped', { pre_tokenizer: { type: 'Split', behavior: 'Removed' } }],
    ['no bytes', { pre_tokenizer: { type: 'Metaspace' } }],
    ['tokens that take white space along', { added_tokens: [{ content: 'x', rstrip: true }] }],
  ])('is unknown with %s', (_, change) => {
    expect(longestToken({ ...content, ...change })).toBeNull();
  });
});

describe('leastTokens', () => {
  it('says nothing about texts that are counted quickly, nor without a bound', () => {
    expect(leastTokens('a'.repeat(262_144), 4)).toBe(0);
    expect(leastTokens('a'.repeat(262_145), 4)).toBe(65_537);
    expect(leastTokens('a'.repeat(1_000_000), null)).toBe(0);
  });
});
