import { describe, expect, it } from 'vitest';
import type { DomainError } from '../errors/index.js';
import { parseJson } from './json.js';

function refusal(body: string | Buffer, maxDepth = 64): DomainError {
  try {
    parseJson(Buffer.from(body), maxDepth);
  } catch (error) {
    return error as DomainError;
  }
  throw new Error('the body was taken');
}

describe('request bodies as JSON (CASES BL-28)', () => {
  it('gives what the bytes say, a byte order mark aside', () => {
    expect(parseJson(Buffer.from('\uFEFF{"größe":["漢字","\\u0000",1e3]}'), 64)).toEqual({
      größe: ['漢字', '\0', 1000],
    });
  });

  it('refuses what is no JSON without repeating it', () => {
    const error = refusal('{"input": secret prompt');
    expect(error.code).toBe('invalid_json');
    expect(error.message).not.toContain('secret');
  });

  it('refuses bytes that are no UTF-8', () => {
    expect(refusal(Buffer.from([0x22, 0xff, 0xfe, 0x22])).code).toBe('invalid_json');
  });

  it('refuses 10,000 nested arrays by their number of levels', () => {
    expect(refusal('['.repeat(10_000) + ']'.repeat(10_000)).message).toContain('64');
  });

  it('takes exactly as many levels as it may, and counts no bracket inside a string', () => {
    expect(parseJson(Buffer.from('[[["]\\"[[[["]]]'), 3)).toEqual([[[']"[[[[']]]);
    expect(refusal('[[[[]]]]', 3).code).toBe('invalid_json');
  });

  it('names the place of a key __proto__, however it is written', () => {
    const error = refusal('{"input":[{},{"\\u005f_proto__":{"admin":true}}]}');
    expect([error.code, error.param]).toEqual(['invalid_value', 'input[1].__proto__']);
  });
});
