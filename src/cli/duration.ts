import { UsageError } from './cli-errors.js';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_MS = 2 ** 31 - 1;

/** `250ms`, `60s`, `5m`, `2h`, `30d`, or seconds without a unit; as milliseconds. Throws UsageError. */
export function parseDuration(text: string): number {
  const [, number, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (number === undefined) throw new UsageError(`${text}: expected a time such as 60s, 5m or 2h`);
  return Number(number) * UNIT_MS[unit ?? 's']!;
}

/** As `parseDuration`, for a wait: no longer than a timer can be set. */
export function parseWait(text: string): number {
  return Math.min(parseDuration(text), LONGEST_MS);
}
