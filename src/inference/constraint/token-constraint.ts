import type { OutputConstraint } from '../output-constraint.js';
import { TooComplex, type Expression } from './expression.js';
import { Free } from './expression-kinds.js';
import { Expressions } from './expressions.js';
import { outputGrammar } from './output-grammar.js';
import { addToken, type TokenSet, type TokenTrie } from './token-trie.js';

/** Token sets kept per constraint: those of states that were met lately. */
const KEPT_SETS = 256;

/** What a vocabulary is besides the bytes of its tokens. */
export interface TokenKinds {
  readonly endTokenIds: ReadonlySet<number>;
  /** Special tokens, with what they are written as. */
  readonly special: ReadonlyMap<number, string>;
}

/** One constraint over one vocabulary; what is found out about its states serves all outputs that are held to it. */
export class TokenConstraint {
  private readonly make: Expressions;
  private readonly start: Expression;
  private readonly sets = new Map<Expression, TokenSet>();
  /** Special tokens that are the marks of calls: they are text here. */
  private readonly marks: ReadonlyMap<number, Buffer>;

  /** Throws SchemaRefusal or TooComplex. */
  constructor(
    private readonly trie: TokenTrie,
    private readonly kinds: TokenKinds,
    constraint: OutputConstraint,
  ) {
    this.make = new Expressions(trie.reach);
    this.start = outputGrammar(this.make, constraint);
    const written = constraint.kind === 'tool_calls' ? [constraint.form.open, constraint.form.close] : [];
    const marks = [...kinds.special].filter(([, text]) => written.includes(text.trim()));
    this.marks = new Map(marks.map(([id, text]) => [id, Buffer.from(text.trim(), 'utf8')]));
  }

  begin(): ConstrainedOutput {
    return new ConstrainedOutput(this, this.start);
  }

  /** Of a state. */
  allowed(state: Expression): TokenSet {
    this.make.newToken();
    const set = this.textTokens(state).slice();
    this.trie.addLong(set, state, this.make.nothing);
    for (const [id, bytes] of this.marks) if (this.follow(state, bytes) !== this.make.nothing) addToken(set, id);
    if (state.nullable) for (const id of this.kinds.endTokenIds) addToken(set, id);
    if (state instanceof Free) this.addSilent(set);
    if (!set.some((word) => word !== 0)) throw new TooComplex('no token of the model can go on with what must come');
    return set;
  }

  /** The state behind a token. */
  after(state: Expression, tokenId: number): Expression {
    const bytes = this.marks.get(tokenId) ?? this.trie.bytesOf(tokenId);
    // Silent ones, and the end.
    if (bytes === null) return state;
    this.make.newToken();
    const next = this.follow(state, bytes);
    if (next === this.make.nothing) throw new TooComplex(`token ${tokenId} cannot stand where it does`);
    return next;
  }

  isEnd(state: Expression): boolean {
    return state === this.make.end;
  }

  private textTokens(state: Expression): TokenSet {
    const beginning = state.beginning();
    const known = this.sets.get(beginning);
    this.sets.delete(beginning);
    const set = known ?? this.trie.allowed(beginning, this.make.nothing);
    this.sets.set(beginning, set);
    if (this.sets.size > KEPT_SETS) this.sets.delete(this.sets.keys().next().value!);
    return set;
  }

  private follow(state: Expression, bytes: Buffer): Expression {
    let next = state;
    for (const byte of bytes) next = next.after(byte);
    return next;
  }

  /** Where any text may stand, tokens that write none may too. */
  private addSilent(set: TokenSet): void {
    for (const id of this.kinds.special.keys()) if (!this.marks.has(id)) addToken(set, id);
  }
}

/** One output on its way. A pure function of the tokens taken. */
export class ConstrainedOutput {
  private known: TokenSet | null = null;

  constructor(
    private readonly constraint: TokenConstraint,
    private state: Expression,
  ) {}

  /** The tokens that may come next. Throws TooComplex. */
  get allowed(): TokenSet {
    return (this.known ??= this.constraint.allowed(this.state));
  }

  take(tokenId: number): void {
    this.state = this.constraint.after(this.state, tokenId);
    this.known = null;
  }

  /** Nothing may follow: the output is whole. */
  get whole(): boolean {
    return this.constraint.isEnd(this.state);
  }
}
