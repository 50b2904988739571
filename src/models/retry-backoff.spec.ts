import { describe, expect, it } from 'vitest';
import { RetryBackoff } from './retry-backoff.js';

describe('RetryBackoff', () => {
  it('doubles from 250 ms and stays at 30 s however often a model fails', () => {
    const backoff = new RetryBackoff();
    const delays = Array.from({ length: 2000 }, () => backoff.next(0));
    expect(delays.slice(0, 9)).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(delays.at(-1)).toBe(30_000);
  });

  it('begins anew after a runner that lived for a minute, and after a reset', () => {
    const backoff = new RetryBackoff();
    backoff.next(0);
    expect(backoff.next(59_999)).toBe(500);
    expect(backoff.next(60_000)).toBe(250);
    backoff.reset();
    expect(backoff.next(0)).toBe(250);
  });
});
