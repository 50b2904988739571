import { describe, expect, it } from 'vitest';
import { parseSnapshotLine, snapshotLine } from './token-log.js';

describe('the line remembered of a token', () => {
  it.each([
    [{ tokenId: 0, kernelClass: 'alone' }, '0'],
    [{ tokenId: 151_643, kernelClass: 'batch' }, '151643b'],
  ] as const)('%o is written as %s and read back as it was', (token, line) => {
    expect(snapshotLine(token)).toBe(line);
    expect(parseSnapshotLine(line)).toEqual(token);
  });

  it.each(['', 'b', '-1', '1.5', '12x', '1 ', '1bb', ' 1'])('"%s" is refused', (line) => {
    expect(() => parseSnapshotLine(line)).toThrow('unreadable snapshot line');
  });
});
