import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DomainError } from '../errors/index.js';
import { fingerprintOf, parseIdempotencyKey } from './idempotency-key.js';

const visible = fc
  .array(fc.integer({ min: 0x21, max: 0x7e }), { minLength: 1, maxLength: 255 })
  .map((codes) => String.fromCharCode(...codes));

const quoted = (key: string): string => `"${key.replace(/["\\]/g, '\\$&')}"`;

function refusal(header: string): DomainError | null {
  try {
    parseIdempotencyKey(header);
    return null;
  } catch (error) {
    return error as DomainError;
  }
}

describe('the format of a key (WIRE B6: 1..255 visible ASCII, bare or quoted)', () => {
  it('takes every visible text, and the same key in quotes', () => {
    fc.assert(
      fc.property(visible, (key) => {
        if (!key.startsWith('"')) expect(parseIdempotencyKey(key)).toBe(key);
        expect(parseIdempotencyKey(quoted(key))).toBe(key);
      }),
    );
  });

  it('refuses every text with another character in it', () => {
    const other = fc.integer({ min: 0, max: 0xff }).filter((code) => code < 0x21 || code > 0x7e);
    fc.assert(
      fc.property(visible, other, fc.nat(), (key, code, place) => {
        const at = place % (key.length + 1);
        const broken = key.slice(0, at) + String.fromCharCode(code) + key.slice(at);
        expect(refusal(broken)?.code).toBe('invalid_idempotency_key');
        expect(refusal(quoted(broken))?.code).toBe('invalid_idempotency_key');
      }),
    );
  });

  it.each([
    '',
    '""',
    'a'.repeat(256),
    quoted('a'.repeat(256)),
    '"',
    '"a',
    '"a"b',
    '"a";v=1',
    '"a\\b"',
    'one, two',
    ' ',
  ])('refuses %j and names the header', (header) => {
    expect(refusal(header)).toMatchObject({ code: 'invalid_idempotency_key', param: 'Idempotency-Key' });
  });

  it('counts the characters of the key, not its quotes and escapes', () => {
    expect(parseIdempotencyKey(quoted('"'.repeat(255)))).toBe('"'.repeat(255));
  });
});

describe('the fingerprint of a request (WIRE B6)', () => {
  /** The same value, the keys of each object in the opposite order. */
  const turned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turned);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, member]) => [key, turned(member)] as const)
        .reverse(),
    );
  };

  it('does not know the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(fingerprintOf(turned(body), {})).toBe(fingerprintOf(body, {}));
      }),
    );
  });

  it('differs where the JSON differs', () => {
    const text = (value: unknown): string => JSON.stringify(value, Object.keys(value as object).sort());
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.integer()), fc.dictionary(fc.string(), fc.integer()), (a, b) => {
        expect(fingerprintOf(a, {}) === fingerprintOf(b, {})).toBe(text(a) === text(b));
      }),
    );
    expect(fingerprintOf({ input: [1, 2] }, {})).not.toBe(fingerprintOf({ input: [2, 1] }, {}));
    expect(fingerprintOf({ stream: true }, {})).not.toBe(fingerprintOf({ stream: false }, {}));
  });

  it('knows the parameters of the route, and a request without a body', () => {
    expect(fingerprintOf({}, { id: 'a' })).not.toBe(fingerprintOf({}, { id: 'b' }));
    expect(fingerprintOf(undefined, {})).toMatch(/^[0-9a-f]{64}$/);
  });
});
