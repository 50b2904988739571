import { describe, expect, it } from 'vitest';
import { packTexts } from './packed-texts.js';

describe('packTexts', () => {
  it('gives each text back from its place, in bytes counted from 1', () => {
    const texts = ['{"a":1}', '', 'größer, 東京, 🙂', 'x'.repeat(10_000)];
    const { bytes, places } = packTexts(texts);
    expect(places.map(([first, length]) => bytes.toString('utf8', first - 1, first - 1 + length))).toEqual(texts);
    expect(places[0]).toEqual([1, 7]);
  });
});
