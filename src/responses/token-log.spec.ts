import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cachedTokensOf, readTokenLog, snapshotLine } from './token-log.js';

const token = fc.record({
  tokenId: fc.nat({ max: 300_000 }),
  kernelClass: fc.constantFrom('alone' as const, 'batch' as const),
});

describe('the token log of a response', () => {
  it('ENGINE 4.7: ids and kernel classes are read back as they were written, with the fingerprint of the engine', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 40 }), fc.nat(), (tokens, cachedTokens) => {
        const start = { fingerprint: 'abc123', cachedTokens };
        const lines = tokens.map((each, index) => snapshotLine({ index, ...each }, start));
        expect(readTokenLog(lines)).toEqual({ fingerprint: tokens.length > 0 ? 'abc123' : null, tokens });
        if (tokens.length > 0) expect(cachedTokensOf(lines[0]!)).toBe(cachedTokens);
      }),
    );
  });

  it('an empty log is a valid one, of no engine (WIRE B6)', () => {
    expect(readTokenLog([])).toEqual({ fingerprint: null, tokens: [] });
  });

  it.each([
    ['a first line without a fingerprint', ['12']],
    ['a later line with one', ['12 abc', '13 abc']],
    ['an empty line', ['12 abc', '']],
    ['a negative id', ['12 abc', '-1']],
    ['a broken id', ['1.5 abc']],
    ['an unknown class', ['12x abc']],
    ['a doubled class', ['12 abc', '1bb']],
    ['a cut first line', ['12 ']],
    ['a first line with a broken number of cached tokens', ['12 abc 64x']],
  ])('%s is not read', (_, lines) => {
    expect(readTokenLog(lines)).toBeNull();
  });
});
