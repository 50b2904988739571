import { expect, test } from 'vitest';
import { hashOf, hintOf, isWellFormed, newAccessToken } from './access-token.js';

test('a token is lmsp_, 43 characters for 256 bits and 6 for the check sum, and never the same twice (WIRE B8)', () => {
  const tokens = Array.from({ length: 200 }, newAccessToken);
  expect(new Set(tokens).size).toBe(200);
  for (const token of tokens) {
    expect(token).toMatch(/^lmsp_[0-9A-Za-z]{49}$/);
    expect(isWellFormed(token)).toBe(true);
  }
});

test('the form is fixed: a token made once is valid for ever', () => {
  expect(isWellFormed(`lmsp_${'0'.repeat(43)}1hcgIi`)).toBe(true);
});

test('every single wrong character and every swap of two neighbours is noticed', () => {
  const token = newAccessToken();
  for (let i = 5; i < token.length; i++) {
    const wrong = token[i] === 'x' ? 'y' : 'x';
    expect(isWellFormed(token.slice(0, i) + wrong + token.slice(i + 1))).toBe(false);
    if (i + 1 < token.length && token[i] !== token[i + 1]) {
      expect(isWellFormed(token.slice(0, i) + token[i + 1] + token[i] + token.slice(i + 2))).toBe(false);
    }
  }
});

test.each(['', 'lmsp_', 'sk-abc', 'LMSP_'.padEnd(54, '0'), newAccessToken() + '\n', ` ${newAccessToken()}`])(
  'not a token: %j',
  (text) => {
    expect(isWellFormed(text)).toBe(false);
  },
);

test('hash and hint do not give the token away', () => {
  const token = newAccessToken();
  expect(hashOf(token)).toMatch(/^[0-9a-f]{64}$/);
  expect(hintOf(token)).toBe(`${token.slice(0, 9)}…${token.slice(-4)}`);
});
