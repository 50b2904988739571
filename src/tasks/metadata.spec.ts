import { describe, expect, it } from 'vitest';
import { metadataOf } from './metadata.js';

describe('metadata (WIRE-FACTS A1)', () => {
  it('takes 16 keys of 64 characters with 512 characters each, and nothing as none', () => {
    const most = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`${i}`.padEnd(64, 'k'), 'v'.repeat(512)]));
    expect(metadataOf(most)).toEqual(most);
    expect([metadataOf(null), metadataOf(undefined)]).toEqual([{}, {}]);
  });

  it.each([
    [{ topic: 5 }, 'invalid_type', 'metadata.topic'],
    [{ topic: null }, 'invalid_type', 'metadata.topic'],
    [{ topic: 'v'.repeat(513) }, 'invalid_value', 'metadata.topic'],
    [{ ['k'.repeat(65)]: 'v' }, 'invalid_value', 'metadata'],
    [Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])), 'invalid_value', 'metadata'],
  ])('refuses %j and names the key', (metadata, code, param) => {
    expect(() => metadataOf(metadata)).toThrow(expect.objectContaining({ code, param }));
  });
});
