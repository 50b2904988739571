import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Watchdog } from './watchdog.js';

describe('the watchdog', () => {
  let stalls = 0;
  let dog: Watchdog;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    stalls = 0;
    dog = new Watchdog(10_000, () => stalls++);
  });
  afterEach(() => {
    dog.stop();
    vi.useRealTimers();
  });

  it('barks once when something expected is not heard for so long', () => {
    dog.expect();
    vi.advanceTimersByTime(9_000);
    expect(stalls).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(stalls).toBe(1);
  });

  it('is quiet while there is progress, and while nothing is expected', () => {
    dog.expect();
    for (let i = 0; i < 5; i++) {
      vi.advanceTimersByTime(9_000);
      dog.heard(true);
    }
    dog.heard(false);
    vi.advanceTimersByTime(60_000);
    expect(stalls).toBe(0);
  });

  it('counts silence from when work began, not from before, and more work is no progress', () => {
    vi.advanceTimersByTime(60_000);
    dog.expect();
    vi.advanceTimersByTime(6_000);
    dog.expect();
    expect(stalls).toBe(0);
    vi.advanceTimersByTime(6_000);
    expect(stalls).toBe(1);
  });

  it('does not count what this process itself slept through', () => {
    vi.useRealTimers();
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const sleeper = new Watchdog(10_000, () => stalls++);
    sleeper.expect();
    now += 3_600_000;
    vi.advanceTimersByTime(1_000);
    expect(stalls).toBe(0);
    sleeper.stop();
    clock.mockRestore();
  });
});
