import { describe, expect, it } from 'vitest';
import { Bandwidth } from './bandwidth.js';

const RATE = 1000;
const never = new AbortController().signal;

/** Time passes by waiting, and when the test says so. */
class Clock {
  now = 5000;
  readonly waits: number[] = [];

  bandwidth(bytesPerSecond = RATE): Bandwidth {
    return new Bandwidth(
      bytesPerSecond,
      () => this.now,
      (ms) => {
        this.waits.push(ms);
        this.now += ms;
        return Promise.resolve();
      },
    );
  }

  get waited(): number {
    return this.waits.reduce((sum, ms) => sum + ms, 0);
  }
}

describe('the bandwidth of pulls (LMSP_PULL_BYTES_PER_SECOND)', () => {
  it('has who takes wait for as long as the bytes need at that rate', async () => {
    const clock = new Clock();
    const bandwidth = clock.bandwidth();
    for (const bytes of [1, 999, 250, 4750]) await bandwidth.take(bytes, never);
    expect(clock.waited).toBe(6000);
  });

  it('counts the time that the bytes took anyway, and keeps none of it for later', async () => {
    const clock = new Clock();
    const bandwidth = clock.bandwidth();
    await bandwidth.take(100, never);
    clock.now += 60_000;
    await bandwidth.take(100, never);
    await bandwidth.take(100, never);
    expect(clock.waits).toEqual([100, 100, 100]);
  });

  it('is shared by all: the second waits for the first as well', () => {
    const bandwidth = new Clock().bandwidth();
    expect([bandwidth.pauseAfter(100), bandwidth.pauseAfter(300)]).toEqual([100, 400]);
  });

  it('is without a limit for 0', async () => {
    const clock = new Clock();
    await clock.bandwidth(0).take(2 ** 40, never);
    expect(clock.waits).toEqual([]);
  });

  it('rejects with the reason of an abort', async () => {
    const given = new AbortController();
    const waiting = new Bandwidth(1).take(2 ** 20, given.signal);
    given.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
  });
});
