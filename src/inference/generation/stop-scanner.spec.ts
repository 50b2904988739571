import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StopScanner } from './stop-scanner.js';

function scan(stops: string[], pieces: string[]): { out: string[]; matched: boolean } {
  const scanner = new StopScanner(stops);
  const out: string[] = [];
  for (const piece of pieces) {
    const { text, matched } = scanner.push(piece);
    out.push(text);
    if (matched) return { out, matched };
  }
  return { out: [...out, scanner.flush()], matched: false };
}

describe('stop strings (BL-22)', () => {
  it.each<[string, string[], string[], string, boolean]>([
    ['over several tokens', ['END_OF'], ['a', 'EN', 'D_', 'OF', 'b'], 'a', true],
    ['in the middle of a token', ['stop'], ['go nonstopping'], 'go non', true],
    ['of which one begins another', ['ab', 'abc'], ['x', 'a', 'b', 'c'], 'x', true],
    ['as the very first text', ['Hi'], ['Hi there'], '', true],
    ['that do not come after all', ['END_OF'], ['EN', 'D', 'less'], 'ENDless', false],
    ['held back when the text ends', ['END_OF'], ['x', 'EN'], 'xEN', false],
    ['that overlap themselves', ['aab'], ['a', 'a', 'a', 'b'], 'a', true],
    ['inside a family emoji', ['\u200d'], ['👩\u200d👧'], '👩', true],
    ['of one emoji in a run of them', ['😁'], ['😀', '😁', '😂'], '😀', true],
    ['that are empty', [''], ['a', 'b'], 'ab', false],
    ['of half an emoji, which would cut it in two', ['\ude00'], ['😀'], '😀', false],
    ['none', [], ['a', 'b'], 'ab', false],
  ])('%s', (_, stops, pieces, text, matched) => {
    const result = scan(stops, pieces);
    expect(result.out.join('')).toBe(text);
    expect(result.matched).toBe(matched);
  });

  it('let nothing out while a match is possible, and all of it when it fails', () => {
    expect(scan(['END_OF'], ['EN', 'D', '!']).out).toEqual(['', '', 'END!', '']);
  });

  it('let the match win that is complete first', () => {
    expect(scan(['abcd', 'c'], ['a', 'b', 'c', 'd']).out.join('')).toBe('ab');
    expect(scan(['abcd', 'c'], ['abcd']).out.join('')).toBe('ab');
  });

  it('give the same text however it was cut: streamed = not streamed', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), fc.array(word, { maxLength: 12 }), (stops, pieces) => {
        const streamed = scan(stops, pieces);
        const whole = scan(stops, [pieces.join('')]);
        expect(streamed.out.join('')).toBe(whole.out.join(''));
        expect(streamed.matched).toBe(whole.matched);
        for (const stop of stops) expect(streamed.out.join('')).not.toContain(stop);
      }),
      { numRuns: 2000 },
    );
  });
});
