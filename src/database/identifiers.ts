import { randomBytes } from 'node:crypto';

/** Crockford base 32: sorts like the number it writes. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;
/** Random bytes are asked for by the page: each call to the system costs as much as an id. */
const PAGE_BYTES = 4096;

let lastTime = 0;
let page = Buffer.alloc(0);
let used = 0;

/**
 * The part of an id behind its prefix: 26 characters, 50 bits of milliseconds and 80 random bits (WIRE B0). Ids made
 * later never sort before earlier milliseconds of this process, also when the clock is set back.
 */
export function identifierSuffix(now: number = Date.now()): string {
  lastTime = Math.max(now, lastTime);
  let time = lastTime;
  let head = '';
  for (let i = 0; i < TIME_CHARACTERS; i++) {
    head = ALPHABET.charAt(time % 32) + head;
    time = Math.floor(time / 32);
  }
  let tail = '';
  if (used + RANDOM_CHARACTERS > page.length) [page, used] = [randomBytes(PAGE_BYTES), 0];
  for (const end = used + RANDOM_CHARACTERS; used < end; used++) tail += ALPHABET.charAt(page[used]! & 31);
  return head + tail;
}

/** `resp_…`, `task_…`, `cli_…`: prefix, underscore, 26 time-ordered characters. */
export function newIdentifier(prefix: string): string {
  return `${prefix}_${identifierSuffix()}`;
}
