import type { Expression } from './expression.js';
import type { Expressions } from './expressions.js';

/** Ranges of code points, both ends included, ascending and apart. */
export type CodePoints = readonly (readonly [number, number])[];

const LAST = 0x10ffff;
/** Halves of pairs, which are no characters. */
const SURROGATES: readonly [number, number] = [0xd800, 0xdfff];
/** Largest code point that UTF-8 writes with one, two, three, four bytes. */
const LENGTHS = [0x7f, 0x7ff, 0xffff, LAST];
const SHORT_ESCAPES: Record<number, string> = {
  0x08: '\\b',
  0x09: '\\t',
  0x0a: '\\n',
  0x0c: '\\f',
  0x0d: '\\r',
  0x22: '\\"',
  0x5c: '\\\\',
};

export const ANY_CODE_POINT = without([SURROGATES]);

export function union(...sets: CodePoints[]): CodePoints {
  const sorted = sets.flat().sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = merged.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** All code points but these. */
export function without(set: CodePoints): CodePoints {
  const rest: [number, number][] = [];
  let next = 0;
  for (const [from, to] of union(set, [SURROGATES])) {
    if (from > next) rest.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= LAST) rest.push([next, LAST]);
  return rest;
}

/** One character of the set as JSON writes it within a string: UTF-8, escaped where it must be. */
export function inJsonText(make: Expressions, set: CodePoints): Expression {
  const choices: Expression[] = [];
  for (const [from, to] of set) {
    for (let point = from; point <= Math.min(to, 0x1f); point++) choices.push(escaped(make, point));
    for (const point of [0x22, 0x5c]) if (from <= point && point <= to) choices.push(escaped(make, point));
    for (const [low, high] of [
      [0x20, 0x21],
      [0x23, 0x5b],
      [0x5d, 0xd7ff],
      [0xe000, LAST],
    ] as const) {
      choices.push(utf8(make, Math.max(from, low), Math.min(to, high)));
    }
  }
  return make.either(...choices);
}

function escaped(make: Expressions, point: number): Expression {
  return make.literal(SHORT_ESCAPES[point] ?? `\\u${point.toString(16).padStart(4, '0')}`);
}

/** Byte sequences of the code points of a range, surrogates not among them (Unicode, table 3-7). */
export function utf8(make: Expressions, from: number, to: number): Expression {
  const choices: Expression[] = [];
  let low = from;
  for (const longest of LENGTHS) {
    if (low > to) break;
    if (low > longest) continue;
    const high = Math.min(to, longest);
    choices.push(bytesBetween(make, bytes(low), bytes(high)));
    low = high + 1;
  }
  return make.either(...choices);
}

function bytes(point: number): number[] {
  return [...Buffer.from(String.fromCodePoint(point), 'utf8')];
}

/** Byte strings of one length, from `low` to `high`, whose bytes behind the first are continuations. */
function bytesBetween(make: Expressions, low: number[], high: number[]): Expression {
  const [first = 0, ...lowRest] = low;
  const [last = 0, ...highRest] = high;
  if (lowRest.length === 0) return make.byte([first, last]);
  if (first === last) return make.pair(make.byte(first), bytesBetween(make, lowRest, highRest));
  const [least, most] = [lowRest.map(() => 0x80), lowRest.map(() => 0xbf)];
  const between = last - first > 1 ? make.byte([first + 1, last - 1]) : make.nothing;
  return make.either(
    make.pair(make.byte(first), bytesBetween(make, lowRest, most)),
    make.pair(between, bytesBetween(make, least, most)),
    make.pair(make.byte(last), bytesBetween(make, least, highRest)),
  );
}
