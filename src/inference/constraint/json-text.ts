import { utf8 } from './code-points.js';
import type { Expression } from './expression.js';
import type { Expressions } from './expressions.js';

/** Digits of a whole number at most: beyond, a double does not hold every integer (RFC 8259, section 6). */
export const MOST_DIGITS = 15;
/** Digits behind the point at most. */
export const MOST_DECIMALS = 10;
/** A line break may be followed by so many blanks: a model that likes them must come to an end. */
const MOST_INDENT = 16;

/** The pieces that JSON is written with (RFC 8259). One form of each: no exponents, blanks only where people write them. */
export class JsonText {
  readonly digit: Expression;
  /** One character of a string as it stands between the quotes: itself, or escaped. */
  readonly character: Expression;
  /** Behind an opening bracket or a comma, and before a closing bracket. */
  readonly gap: Expression;
  private readonly hex: Expression;

  constructor(readonly make: Expressions) {
    this.digit = make.byte([0x30, 0x39]);
    this.hex = make.byte([0x30, 0x39], [0x41, 0x46], [0x61, 0x66]);
    const broken = make.sequence(make.byte(0x0a), make.repeat(make.byte(0x20), 0, MOST_INDENT));
    this.gap = make.either(make.end, make.byte(0x20), broken);
    const ascii = make.byte([0x20, 0x21], [0x23, 0x5b], [0x5d, 0x7f]);
    const beyond = [utf8(make, 0x80, 0xd7ff), utf8(make, 0xe000, 0x10ffff)];
    this.character = make.either(ascii, ...beyond, make.pair(make.byte(0x5c), this.escape()));
  }

  /** A string of so many characters, in Unicode code points. */
  text(least = 0, most = Infinity): Expression {
    return this.quoted(this.make.repeat(this.character, least, most));
  }

  quoted(inner: Expression): Expression {
    return this.make.sequence(this.make.byte(0x22), inner, this.make.byte(0x22));
  }

  /** A value that is known. */
  literal(value: unknown): Expression {
    return this.make.literal(JSON.stringify(value));
  }

  integer(): Expression {
    return this.make.sequence(this.minus(), this.whole());
  }

  /** `decimals`: behind the point, at most. */
  number(decimals = MOST_DECIMALS): Expression {
    const { make } = this;
    const fraction = make.pair(make.byte(0x2e), make.repeat(this.digit, 1, decimals));
    return make.sequence(this.minus(), this.whole(), decimals === 0 ? make.end : make.optional(fraction));
  }

  boolean(): Expression {
    return this.make.either(this.make.literal('true'), this.make.literal('false'));
  }

  /** `members` with a comma between two of them. */
  list(open: string, members: Expression, close: string): Expression {
    const { make } = this;
    const full = make.sequence(make.literal(open), this.gap, members, this.gap, make.literal(close));
    return members.nullable ? make.either(make.literal(open + close), full) : full;
  }

  comma(): Expression {
    return this.make.pair(this.make.byte(0x2c), this.gap);
  }

  /** A member of an object, its name as an expression. */
  member(name: Expression, value: Expression): Expression {
    const { make } = this;
    return make.sequence(name, make.byte(0x3a), make.optional(make.byte(0x20)), value);
  }

  /** `least` to `most` of a part, commas between. */
  separated(part: Expression, least: number, most: number): Expression {
    const { make } = this;
    if (most <= 0) return make.end;
    const further = make.repeat(make.pair(this.comma(), part), Math.max(least - 1, 0), most - 1);
    const some = make.pair(part, further);
    return least > 0 ? some : make.optional(some);
  }

  private minus(): Expression {
    return this.make.optional(this.make.byte(0x2d));
  }

  private whole(): Expression {
    const { make, digit } = this;
    const long = make.pair(make.byte([0x31, 0x39]), make.repeat(digit, 0, MOST_DIGITS - 1));
    return make.either(make.byte(0x30), long);
  }

  /** Behind the backslash. No surrogates: a half one is no character, and a pair is written as itself. */
  private escape(): Expression {
    const { make, hex } = this;
    const short = make.byte(...[...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));
    const notD = make.byte([0x30, 0x39], [0x41, 0x43], [0x45, 0x46], [0x61, 0x63], [0x65, 0x66]);
    const d = make.pair(make.byte(0x44, 0x64), make.pair(make.byte([0x30, 0x37]), make.repeat(hex, 2, 2)));
    const four = make.either(make.pair(notD, make.repeat(hex, 3, 3)), d);
    return make.either(short, make.pair(make.byte(0x75), four));
  }
}
