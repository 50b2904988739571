import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isHost, isLoopback, isOrigin, parseHost } from './host-names.js';

describe('parseHost', () => {
  it.each([
    ['localhost', 'localhost', null],
    ['LocalHost:5677', 'localhost', 5677],
    ['127.0.0.1:80', '127.0.0.1', 80],
    ['[::1]:5677', '::1', 5677],
    ['my-box.lan', 'my-box.lan', null],
  ])('takes %s apart', (text, name, port) => {
    expect(parseHost(text)).toEqual({ name, port });
  });

  it.each([
    '',
    ':80',
    '::1',
    '[::1',
    '[localhost]',
    'a b',
    'a/b',
    'a@b',
    'a:b',
    'a:80:90',
    'http://a',
    'a.',
    '.a',
    'a,b',
  ])('finds no host in %j', (text) => {
    expect(parseHost(text)).toBeNull();
    expect(isHost(text)).toBe(false);
  });

  it('takes any text without throwing, and a loopback name only where it is one', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const host = parseHost(`${text}.example`);
        expect(host !== null && isLoopback(host.name)).toBe(false);
      }),
    );
  });
});

describe('isOrigin', () => {
  it.each(['https://app.example', 'http://localhost:3000', 'chrome-extension://abcdef'])('takes %s', (text) => {
    expect(isOrigin(text)).toBe(true);
  });

  it.each(['null', '*', 'app.example', 'https://app.example/', 'https://a b', 'https://user@app.example'])(
    'does not take %s',
    (text) => {
      expect(isOrigin(text)).toBe(false);
    },
  );
});
