import type { Expressions } from './expressions.js';

/**
 * What may still be written, byte by byte, as an expression with derivatives (J. A. Brzozowski, Derivatives of Regular
 * Expressions, JACM 11, 1964), extended by counted repetition, intersection and named rules that may refer to
 * themselves. Equal expressions of one `Expressions` are one object, so that what was found out about a state is found
 * out once.
 */
export abstract class Expression {
  /** Nothing more need follow. */
  abstract readonly nullable: boolean;
  private derived: (Expression | undefined)[] | null = null;
  private coarse: Expression | null = null;

  constructor(
    protected readonly owner: Expressions,
    readonly id: number,
  ) {}

  /** What may follow behind the byte; `nothing` where the byte may not stand. Throws TooComplex. */
  after(byte: number): Expression {
    this.derived ??= new Array<Expression | undefined>(256);
    return (this.derived[byte] ??= this.owner.counted(() => this.derive(byte)));
  }

  /**
   * An expression that allows the same beginnings of up to `Expressions.reach` bytes: counters that cannot run out
   * within them are forgotten. States that differ in such counters only share what is known of their beginnings.
   */
  beginning(): Expression {
    return (this.coarse ??= this.coarsen());
  }

  /** Gives up what is remembered. */
  forget(): void {
    this.derived = null;
    this.coarse = null;
  }

  protected abstract derive(byte: number): Expression;
  protected coarsen(): Expression {
    return this;
  }
}

/** Deriving took more work than one token may cost. */
export class TooComplex extends Error {}
