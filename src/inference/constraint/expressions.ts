import { TooComplex, type Expression } from './expression.js';
import { Both, Either, End, Free, Nothing, OneByte, Pair, Repeat, Rule } from './expression-kinds.js';

/** Derivatives that the next token may cost; a state inside a text over a vocabulary of 150,000 needs a few hundred. */
const WORK_PER_TOKEN = 400_000;
/** Expressions remembered, at about 2 kB each; beyond, all are forgotten and met anew. */
const MOST_REMEMBERED = 10_000;
/** States looked at to find out whether an intersection has any text left. */
const MOST_VISITED = 20_000;

/** Makes expressions. `reach`: bytes of the longest token. */
export class Expressions {
  readonly nothing: Expression;
  readonly end: Expression;
  private readonly known = new Map<string, Expression>();
  private next = 0;
  private work = 0;

  constructor(readonly reach: number) {
    this.nothing = new Nothing(this, this.next++);
    this.end = new End(this, this.next++);
  }

  /** One byte out of a set. */
  byte(...ranges: (readonly [number, number] | number)[]): Expression {
    const set = new Uint8Array(256);
    for (const range of ranges) {
      const [from, to] = typeof range === 'number' ? [range, range] : range;
      set.fill(1, from, to + 1);
    }
    return this.once(`[${set.join('')}`, (id) => new OneByte(this, id, set));
  }

  /** The UTF-8 bytes of a text. */
  literal(text: string): Expression {
    return this.sequence(...[...Buffer.from(text, 'utf8')].map((byte) => this.byte(byte)));
  }

  sequence(...parts: Expression[]): Expression {
    return parts.reduceRight((rest, part) => this.pair(part, rest), this.end);
  }

  either(...choices: Expression[]): Expression {
    const flat = new Set<Expression>();
    for (const choice of choices)
      for (const each of choice instanceof Either ? choice.choices : [choice]) flat.add(each);
    flat.delete(this.nothing);
    const sorted = [...flat].sort((a, b) => a.id - b.id);
    if (sorted.length < 2) return sorted[0] ?? this.nothing;
    return this.once(`|${sorted.map(({ id }) => id).join()}`, (id) => new Either(this, id, sorted));
  }

  /** Nothing or the part. */
  optional(part: Expression): Expression {
    return this.either(this.end, part);
  }

  repeat(part: Expression, least: number, most = Infinity): Expression {
    if (least > most) return this.nothing;
    if (most === 0) return this.end;
    if (part === this.nothing || part === this.end) return part === this.end || least === 0 ? this.end : part;
    if (most === 1) return least === 0 ? this.optional(part) : part;
    const needed = part.nullable ? 0 : least;
    return this.once(`*${part.id},${needed},${most}`, (id) => new Repeat(this, id, part, needed, most));
  }

  /** What both allow. */
  both(left: Expression, right: Expression): Expression {
    if (left === right) return left;
    if (left === this.nothing || right === this.nothing) return this.nothing;
    const [a, b] = left.id < right.id ? [left, right] : [right, left];
    const both = this.once(`&${a.id},${b.id}`, (id) => new Both(this, id, a, b));
    return (both as Both).hasText(MOST_VISITED) ? both : this.nothing;
  }

  /** A rule that is looked up when it is met, and so may refer to itself; it must not be nullable. */
  rule(name: string, body: () => Expression): Expression {
    return this.once(`@${name}`, (id) => new Rule(this, id, body));
  }

  /** Any bytes; where `marker` has come, `then` follows. */
  freeUntil(marker: Buffer, then: () => Expression): Expression {
    return this.free(marker, then, 0);
  }

  /** To be called before each token: its work is counted anew. */
  newToken(): void {
    this.work = 0;
    if (this.known.size <= MOST_REMEMBERED) return;
    for (const expression of this.known.values()) expression.forget();
    this.known.clear();
    this.nothing.forget();
    this.end.forget();
  }

  /** @internal */
  counted(derive: () => Expression): Expression {
    if (++this.work > WORK_PER_TOKEN) throw new TooComplex('what the schema allows here is too complex to find out');
    return derive();
  }

  /** @internal */
  pair(first: Expression, second: Expression): Expression {
    if (first === this.nothing || second === this.nothing) return this.nothing;
    if (first === this.end) return second;
    if (second === this.end) return first;
    if (first instanceof Pair) return this.pair(first.first, this.pair(first.second, second));
    return this.once(`.${first.id},${second.id}`, (id) => new Pair(this, id, first, second));
  }

  /** @internal */
  free(marker: Buffer, then: () => Expression, matched: number): Expression {
    const key = `~${marker.toString('hex')},${matched}`;
    return this.once(key, (id) => new Free(this, id, marker, then, matched));
  }

  private once(key: string, make: (id: number) => Expression): Expression {
    let expression = this.known.get(key);
    if (expression === undefined) this.known.set(key, (expression = make(this.next++)));
    return expression;
  }
}
