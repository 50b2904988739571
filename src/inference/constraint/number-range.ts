import type { Expression } from './expression.js';
import { MOST_DECIMALS, MOST_DIGITS, type JsonText } from './json-text.js';

/** Bounds of a number; null: none. */
export interface NumberRange {
  least: number | null;
  most: number | null;
  /** The bound itself is not allowed. */
  aboveLeast: boolean;
  belowMost: boolean;
}

const LARGEST = 10 ** MOST_DIGITS - 1;

/** Thrown for a bound that cannot be kept to the last digit. */
export class BoundTooFine extends Error {}

/** One bound on the positive side, as digits. */
interface Bound {
  whole: number;
  decimals: string;
  open: boolean;
}

/** Numbers within a range, digit by digit; `decimals`: at most so many behind the point, 0 for integers. */
export function numbersWithin(json: JsonText, range: NumberRange, decimals = MOST_DECIMALS): Expression {
  const { make } = json;
  const { least, most, aboveLeast, belowMost } = range;
  const choices: Expression[] = [];
  if (most === null || most > 0 || (most === 0 && !belowMost)) {
    const low = least === null || least < 0 ? { whole: 0, decimals: '', open: false } : bound(least, aboveLeast);
    choices.push(within(json, low, most === null ? largest() : bound(most, belowMost), decimals));
  }
  if (least === null || least < 0) {
    // -0 is 0, which the other side has where it is allowed.
    const low = most === null || most >= 0 ? { whole: 0, decimals: '', open: true } : bound(-most, belowMost);
    const negative = within(json, low, least === null ? largest() : bound(-least, aboveLeast), decimals);
    choices.push(make.pair(make.byte(0x2d), negative));
  }
  return make.either(...choices);
}

function largest(): Bound {
  return { whole: LARGEST, decimals: '', open: false };
}

function bound(value: number, open: boolean): Bound {
  const text = value.toString();
  if (!/^\d+(\.\d{1,10})?$/.test(text)) {
    throw new BoundTooFine(`${value} needs an exponent or more than ${MOST_DECIMALS} decimals`);
  }
  const [whole = '', decimals = ''] = text.split('.');
  if (Number(whole) > LARGEST) return { whole: LARGEST, decimals: '', open: false };
  return { whole: Number(whole), decimals, open };
}

/** From one bound to the other, both not negative. */
function within(json: JsonText, low: Bound, high: Bound, decimals: number): Expression {
  const { make } = json;
  if (low.whole > high.whole) return make.nothing;
  const fraction = (from: Bound | null, to: Bound | null): Expression =>
    new Fractions(json, from, to, decimals).expression();
  if (low.whole === high.whole) return make.pair(make.literal(`${low.whole}`), fraction(low, high));
  return make.either(
    make.pair(make.literal(`${low.whole}`), fraction(low, null)),
    make.pair(make.literal(`${high.whole}`), fraction(null, high)),
    make.pair(wholeBetween(json, low.whole + 1, high.whole - 1), fraction(null, null)),
  );
}

/** Whole numbers from `from` to `to` in decimal digits, without leading zeros. */
function wholeBetween(json: JsonText, from: number, to: number): Expression {
  const { make } = json;
  const choices: Expression[] = [];
  for (let start = from; start <= to;) {
    const last = Math.min(to, 10 ** `${start}`.length - 1);
    choices.push(sameLength(json, `${start}`, `${last}`));
    start = last + 1;
  }
  return make.either(...choices);
}

/** Digit strings of one length, from `low` to `high`. */
function sameLength(json: JsonText, low: string, high: string): Expression {
  const { make, digit } = json;
  if (low === '') return make.end;
  const rest = low.length - 1;
  const [first, last] = [Number(low[0]), Number(high[0])];
  const one = (value: number): Expression => make.byte(0x30 + value);
  if (first === last) return make.pair(one(first), sameLength(json, low.slice(1), high.slice(1)));
  const between = last - first > 1 ? make.byte([0x31 + first, 0x2f + last]) : make.nothing;
  return make.either(
    make.pair(one(first), sameLength(json, low.slice(1), '9'.repeat(rest))),
    make.pair(between, make.repeat(digit, rest, rest)),
    make.pair(one(last), sameLength(json, '0'.repeat(rest), high.slice(1))),
  );
}

/** What may stand behind a whole part that a bound shares: the point and digits, or nothing. */
class Fractions {
  constructor(
    private readonly json: JsonText,
    private readonly from: Bound | null,
    private readonly to: Bound | null,
    private readonly decimals: number,
  ) {}

  expression(): Expression {
    const { make } = this.json;
    const none = this.mayEnd(0, this.from !== null, this.to !== null) ? make.end : make.nothing;
    if (this.decimals === 0) return none;
    return make.either(none, make.pair(make.byte(0x2e), this.digits(0, this.from !== null, this.to !== null)));
  }

  /** At least one digit more. `low`, `high`: the digits so far are the bound's. */
  private digits(index: number, low: boolean, high: boolean): Expression {
    const { make, digit } = this.json;
    const left = this.decimals - index;
    if (left <= 0) return make.nothing;
    if (!low && !high) return make.repeat(digit, 1, left);
    const [first, last] = [low ? this.at(this.from, index) : 0, high ? this.at(this.to, index) : 9];
    const choices: Expression[] = [];
    for (let value = first; value <= last; value++) {
      const [stillLow, stillHigh] = [low && value === first, high && value === last];
      const end = this.mayEnd(index + 1, stillLow, stillHigh) ? make.end : make.nothing;
      choices.push(make.pair(make.byte(0x30 + value), make.either(end, this.digits(index + 1, stillLow, stillHigh))));
    }
    return make.either(...choices);
  }

  private mayEnd(index: number, low: boolean, high: boolean): boolean {
    const rest = (bound: Bound | null): string => (bound?.decimals.slice(index) ?? '').replace(/0+$/, '');
    const lowFits = !low || (rest(this.from) === '' && this.from?.open !== true);
    const highFits = !high || rest(this.to) !== '' || this.to?.open !== true;
    return lowFits && highFits;
  }

  private at(bound: Bound | null, index: number): number {
    return Number(bound?.decimals[index] ?? '0');
  }
}
