import { expect, test } from 'vitest';
import { newDeviceCode, newUserCode, readUserCode } from './pairing-codes.js';

test('a device code has 256 random bits, a user code eight letters that are not mistaken for each other', () => {
  expect(newDeviceCode()).toMatch(/^[\w-]{43}$/);
  const codes = Array.from({ length: 200 }, newUserCode);
  for (const code of codes) expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  expect(new Set(codes).size).toBe(200);
});

test('a code may be typed in any case, with or without its hyphen', () => {
  for (const typed of ['WDJB-MJHT', 'wdjbmjht', ' wdjb mjht ']) expect(readUserCode(typed)).toBe('WDJB-MJHT');
  for (const typed of ['', 'WDJB-MJH', 'WDJB-MJHTT', 'WDJA-MJHT', '<b>-MJHT']) expect(readUserCode(typed)).toBeNull();
});
