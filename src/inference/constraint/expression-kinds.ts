import { Expression } from './expression.js';
import type { Expressions } from './expressions.js';

export class Nothing extends Expression {
  readonly nullable = false;
  protected derive(): Expression {
    return this;
  }
}

export class End extends Expression {
  readonly nullable = true;
  protected derive(): Expression {
    return this.owner.nothing;
  }
}

export class OneByte extends Expression {
  readonly nullable = false;
  constructor(
    owner: Expressions,
    id: number,
    private readonly set: Uint8Array,
  ) {
    super(owner, id);
  }
  protected derive(byte: number): Expression {
    return this.set[byte] === 1 ? this.owner.end : this.owner.nothing;
  }
}

export class Pair extends Expression {
  readonly nullable: boolean;
  constructor(
    owner: Expressions,
    id: number,
    readonly first: Expression,
    readonly second: Expression,
  ) {
    super(owner, id);
    this.nullable = first.nullable && second.nullable;
  }
  protected derive(byte: number): Expression {
    const inFirst = this.owner.pair(this.first.after(byte), this.second);
    return this.first.nullable ? this.owner.either(inFirst, this.second.after(byte)) : inFirst;
  }
  protected override coarsen(): Expression {
    return this.owner.pair(this.first.beginning(), this.second.beginning());
  }
}

export class Either extends Expression {
  readonly nullable: boolean;
  constructor(
    owner: Expressions,
    id: number,
    readonly choices: readonly Expression[],
  ) {
    super(owner, id);
    this.nullable = choices.some((choice) => choice.nullable);
  }
  protected derive(byte: number): Expression {
    return this.owner.either(...this.choices.map((choice) => choice.after(byte)));
  }
  protected override coarsen(): Expression {
    return this.owner.either(...this.choices.map((choice) => choice.beginning()));
  }
}

export class Repeat extends Expression {
  readonly nullable: boolean;
  constructor(
    owner: Expressions,
    id: number,
    private readonly part: Expression,
    private readonly least: number,
    private readonly most: number,
  ) {
    super(owner, id);
    this.nullable = least === 0;
  }
  protected derive(byte: number): Expression {
    const rest = this.owner.repeat(this.part, Math.max(this.least - 1, 0), this.most - 1);
    return this.owner.pair(this.part.after(byte), rest);
  }
  protected override coarsen(): Expression {
    const { reach } = this.owner;
    const most = this.most > reach ? Infinity : this.most;
    return this.owner.repeat(this.part.beginning(), Math.min(this.least, reach + 1), most);
  }
}

export class Both extends Expression {
  readonly nullable: boolean;
  private text: boolean | null = null;
  constructor(
    owner: Expressions,
    id: number,
    private readonly left: Expression,
    private readonly right: Expression,
  ) {
    super(owner, id);
    this.nullable = left.nullable && right.nullable;
  }
  /** Whether some text satisfies both. Where that is not found within `most` states, it is taken to be so. */
  hasText(most: number): boolean {
    return (this.text ??= this.search(most));
  }
  protected derive(byte: number): Expression {
    return this.owner.both(this.left.after(byte), this.right.after(byte));
  }
  /** Depth first, so that a text that is easily found is found at once. */
  private search(most: number): boolean {
    const { nothing } = this.owner;
    const seen = new Set<string>();
    const path: { left: Expression; right: Expression; byte: number }[] = [];
    const enter = (left: Expression, right: Expression): void => {
      const key = `${left.id},${right.id}`;
      if (!seen.has(key)) path.push({ left, right, byte: 0 });
      seen.add(key);
    };
    enter(this.left, this.right);
    for (let place = path.at(-1); place; place = path.at(-1)) {
      const { left, right } = place;
      if ((left.nullable && right.nullable) || seen.size > most) return true;
      if (place.byte > 255) {
        path.pop();
        continue;
      }
      const byte = place.byte++;
      const next = left.after(byte);
      if (next === nothing) continue;
      const other = right.after(byte);
      if (other !== nothing) enter(next, other);
    }
    return false;
  }
}

export class Rule extends Expression {
  readonly nullable = false;
  private known: Expression | null = null;
  constructor(
    owner: Expressions,
    id: number,
    private readonly body: () => Expression,
  ) {
    super(owner, id);
  }
  protected derive(byte: number): Expression {
    this.known ??= this.body();
    return this.known.after(byte);
  }
}

/** Text in which a marker is looked for as Knuth, Morris and Pratt do: `matched` bytes of it have just come. */
export class Free extends Expression {
  readonly nullable = true;
  constructor(
    owner: Expressions,
    id: number,
    private readonly marker: Buffer,
    private readonly then: () => Expression,
    private readonly matched: number,
  ) {
    super(owner, id);
  }
  protected derive(byte: number): Expression {
    let matched = this.matched;
    while (this.marker[matched] !== byte) {
      if (matched === 0) return this.owner.free(this.marker, this.then, 0);
      matched = this.fallback(matched);
    }
    matched += 1;
    return matched === this.marker.length ? this.then() : this.owner.free(this.marker, this.then, matched);
  }
  /** Length of the longest proper end of the first `matched` bytes that is a beginning of the marker. */
  private fallback(matched: number): number {
    for (let length = matched - 1; length > 0; length--) {
      if (this.marker.subarray(matched - length, matched).equals(this.marker.subarray(0, length))) return length;
    }
    return 0;
  }
}
