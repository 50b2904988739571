import { expect, test } from 'vitest';
import { identifierSuffix, newIdentifier } from './identifiers.js';

test('an id is its prefix and 26 characters, and no two are equal (WIRE B0)', () => {
  const ids = Array.from({ length: 1000 }, () => newIdentifier('task'));
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^task_[0-9a-hjkmnp-tv-z]{26}$/);
});

test('later milliseconds sort later, and a clock that is set back does not count', () => {
  const now = Date.now() + 10_000;
  const times = [now, now + 1, now + 31, now + 32, now + 1_000_000].map((time) => identifierSuffix(time));
  expect([...times].sort()).toEqual(times);
  expect(identifierSuffix(1).slice(0, 10)).toBe(times.at(-1)!.slice(0, 10));
});
