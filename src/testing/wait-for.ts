import { setTimeout as delay } from 'node:timers/promises';

/** Resolves with the first truthy value of `condition`; rejects after `limitMs` naming what was waited for. */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  limitMs = 20_000,
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await condition();
    if (value) return value as Exclude<T, false | null | undefined | 0 | ''>;
    if (Date.now() > end) throw new Error(`gave up waiting for: ${what}`);
    await delay(5);
  }
}
