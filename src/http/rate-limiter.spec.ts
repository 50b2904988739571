import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitedAddress } from './caller-address.js';
import { RateLimiter } from './rate-limiter.js';

describe('RateLimiter', () => {
  it('lets so many through at once, and then one for each part of the minute', () => {
    let now = 0;
    const limiter = new RateLimiter({ perMinute: 10, now: () => now });
    expect(Array.from({ length: 11 }, () => limiter.take('a'))).toEqual([...Array<number>(10).fill(0), 6]);
    expect(limiter.take('b')).toBe(0);
    now = 5999;
    expect(limiter.take('a')).toBeGreaterThan(0);
    now = 6000;
    expect([limiter.take('a'), limiter.take('a')]).toEqual([0, 6]);
    now = 10_000_000;
    expect(Array.from({ length: 11 }, () => limiter.take('a')).at(-1)).toBe(6);
  });

  it('never lets more through in any time than the burst and what that time gives, and never remembers too many', () => {
    const moves = fc.array(
      fc.record({ caller: fc.integer({ min: 0, max: 9 }), pause: fc.integer({ min: 0, max: 9000 }) }),
    );
    fc.assert(
      fc.property(moves, fc.integer({ min: 1, max: 60 }), (steps, perMinute) => {
        let now = 0;
        const roomy = new RateLimiter({ perMinute, now: () => now });
        const small = new RateLimiter({ perMinute, now: () => now, mostCallers: 3 });
        const passed = new Map<number, number>();
        for (const { caller, pause } of steps) {
          now += pause;
          if (roomy.take(String(caller)) === 0) passed.set(caller, (passed.get(caller) ?? 0) + 1);
          small.take(String(caller));
          expect(small.size).toBeLessThanOrEqual(3);
        }
        for (const count of passed.values()) expect(count).toBeLessThanOrEqual(perMinute + (now * perMinute) / 60_000);
      }),
    );
  });
});

describe('limitedAddress', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
  ])('of %s is %s', (address, limited) => {
    expect(limitedAddress(address)).toBe(limited);
  });
});
