import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTokenLog, snapshotLine } from './token-log.js';

const token = fc.record({
  tokenId: fc.nat({ max: 300_000 }),
  kernelClass: fc.constantFrom('alone' as const, 'batch' as const),
});

describe('the token log of a response', () => {
  it('ENGINE 4.7: ids and kernel classes are read back as they were written, with the fingerprint of the engine', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 40 }), (tokens) => {
        const lines = tokens.map((each, index) => snapshotLine({ index, ...each }, 'abc123'));
        expect(readTokenLog(lines)).toEqual({ fingerprint: tokens.length > 0 ? 'abc123' : null, tokens });
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
  ])('%s is not read', (_, lines) => {
    expect(readTokenLog(lines)).toBeNull();
  });
});
