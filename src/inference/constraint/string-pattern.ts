import { ANY_CODE_POINT, inJsonText, union, without, type CodePoints } from './code-points.js';
import type { Expression } from './expression.js';
import type { Expressions } from './expressions.js';

/** A pattern, or something in it, that cannot be enforced; the message says what. */
export class UnsupportedPattern extends Error {}

const LONGEST_PATTERN = 1000;
const MOST_REPEATS = 10_000;

const DIGIT: CodePoints = [[0x30, 0x39]];
const WORD: CodePoints = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** WhiteSpace and LineTerminator (ECMA-262, 12.2 and 12.3). */
const SPACE: CodePoints = union([
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]);
const LINE_ENDS: CodePoints = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const CLASSES: Record<string, CodePoints> = {
  d: DIGIT,
  D: without(DIGIT),
  w: WORD,
  W: without(WORD),
  s: SPACE,
  S: without(SPACE),
};
const CONTROLS: Record<string, number> = { n: 0x0a, r: 0x0d, t: 0x09, v: 0x0b, f: 0x0c, '0': 0 };

/**
 * The inside of JSON strings in which a regular expression finds something (JSON Schema Validation 6.3.3, ECMA-262 with
 * flag u). Without look-around, back references, word boundaries and properties; anchors only at the ends.
 */
export function matching(make: Expressions, pattern: string): Expression {
  if (pattern.length > LONGEST_PATTERN) throw new UnsupportedPattern(`has more than ${LONGEST_PATTERN} characters`);
  try {
    new RegExp(pattern, 'u');
  } catch {
    throw new UnsupportedPattern('is no regular expression');
  }
  return new PatternReader(make, pattern).read();
}

class PatternReader {
  private readonly points: string[];
  private at = 0;

  constructor(
    private readonly make: Expressions,
    pattern: string,
  ) {
    this.points = [...pattern];
  }

  read(): Expression {
    const choices = this.alternatives((): Expression => {
      const fromStart = this.take('^');
      const inner = this.sequence();
      const toEnd = this.take('$');
      return this.make.sequence(
        fromStart ? this.make.end : this.anything(),
        inner,
        toEnd ? this.make.end : this.anything(),
      );
    });
    if (this.at < this.points.length) throw this.unsupported(this.points[this.at] ?? '');
    return choices;
  }

  private anything(): Expression {
    return this.make.repeat(inJsonText(this.make, ANY_CODE_POINT), 0);
  }

  private alternatives(one: () => Expression): Expression {
    const choices = [one()];
    while (this.take('|')) choices.push(one());
    return this.make.either(...choices);
  }

  private sequence(): Expression {
    const parts: Expression[] = [];
    for (;;) {
      const next = this.points[this.at];
      if (next === undefined || next === '|' || next === ')' || next === '$') break;
      parts.push(this.quantified());
    }
    return this.make.sequence(...parts);
  }

  private quantified(): Expression {
    const part = this.atom();
    const [least, most] = this.quantifier();
    return this.make.repeat(part, least, most);
  }

  private quantifier(): [number, number] {
    const found = this.bounds();
    // A lazy one allows the same texts.
    if (found) this.take('?');
    return found ?? [1, 1];
  }

  private bounds(): [number, number] | null {
    if (this.take('*')) return [0, Infinity];
    if (this.take('+')) return [1, Infinity];
    if (this.take('?')) return [0, 1];
    if (!this.take('{')) return null;
    const [least = '', most] = this.until('}').split(',');
    const bounds: [number, number] = [
      Number(least),
      most === undefined ? Number(least) : most === '' ? Infinity : Number(most),
    ];
    if (bounds.some((bound) => bound !== Infinity && bound > MOST_REPEATS)) throw this.unsupported(`{${least}…}`);
    return bounds;
  }

  private atom(): Expression {
    const point = this.next();
    if (point === '(') return this.group();
    if (point === '[') return inJsonText(this.make, this.set());
    if (point === '.') return inJsonText(this.make, without(LINE_ENDS));
    if (point === '\\') return inJsonText(this.make, this.escape());
    if (point === '^') throw this.unsupported('^ in the middle');
    return inJsonText(this.make, one(point));
  }

  private group(): Expression {
    if (this.take('?')) {
      const kind = this.next();
      if (kind === '<' && !'=!'.includes(this.points[this.at] ?? '')) this.until('>');
      else if (kind !== ':') throw this.unsupported(`(?${kind}`);
    }
    const inner = this.alternatives(() => this.sequence());
    if (!this.take(')')) throw this.unsupported('$ in the middle');
    return inner;
  }

  private set(): CodePoints {
    const negated = this.take('^');
    const ranges: CodePoints[] = [];
    while (!this.take(']')) {
      const from = this.setMember();
      const last = this.points[this.at + 1];
      if (from.length === 1 && from[0]?.[0] === from[0]?.[1] && this.points[this.at] === '-' && last !== ']') {
        this.at += 1;
        const to = this.setMember();
        ranges.push([[from[0]?.[0] ?? 0, to[0]?.[1] ?? 0]]);
      } else ranges.push(from);
    }
    return negated ? without(union(...ranges)) : union(...ranges);
  }

  private setMember(): CodePoints {
    const point = this.next();
    if (point !== '\\') return one(point);
    return this.take('b') ? one('\b') : this.escape();
  }

  private escape(): CodePoints {
    const letter = this.next();
    const known = CLASSES[letter];
    if (known) return known;
    const control = CONTROLS[letter];
    if (control !== undefined && !/\d/.test(this.points[this.at] ?? '')) return [[control, control]];
    if (letter === 'x') return this.hexadecimal(2);
    if (letter === 'u' && this.take('{')) return this.point(Number.parseInt(this.until('}'), 16));
    if (letter === 'u') return this.hexadecimal(4);
    if (/[a-zA-Z0-9]/.test(letter)) throw this.unsupported(`\\${letter}`);
    return one(letter);
  }

  private hexadecimal(digits: number): CodePoints {
    const text = this.points.slice(this.at, this.at + digits).join('');
    this.at += digits;
    return this.point(Number.parseInt(text, 16));
  }

  private point(code: number): CodePoints {
    if (code >= 0xd800 && code <= 0xdfff) throw this.unsupported('half a character');
    return [[code, code]];
  }

  private until(end: string): string {
    const close = this.points.indexOf(end, this.at);
    const text = this.points.slice(this.at, close).join('');
    this.at = close + 1;
    return text;
  }

  private next(): string {
    const point = this.points[this.at++];
    if (point === undefined) throw this.unsupported('its end');
    return point;
  }

  private take(point: string): boolean {
    if (this.points[this.at] !== point) return false;
    this.at += 1;
    return true;
  }

  private unsupported(what: string): UnsupportedPattern {
    return new UnsupportedPattern(`has ${what}, which cannot be enforced`);
  }
}

function one(point: string): CodePoints {
  const code = point.codePointAt(0) ?? 0;
  return [[code, code]];
}
