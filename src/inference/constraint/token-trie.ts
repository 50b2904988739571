import type { Expression } from './expression.js';

/** A set of token ids: bit `id & 31` of word `id >> 5`. */
export type TokenSet = Uint32Array;

export function hasToken(set: TokenSet, id: number): boolean {
  return (((set[id >> 5] ?? 0) >>> (id & 31)) & 1) === 1;
}

export function addToken(set: TokenSet, id: number): void {
  set[id >> 5] = (set[id >> 5] ?? 0) | (1 << (id & 31));
}

const NONE = -1;
/**
 * Bytes of the longest token in the trie. The few that are longer (rows of dashes or blanks) are followed one by one: they
 * would make states differ in counters that no other token can reach.
 */
const LONGEST_IN_TRIE = 16;

/** A vocabulary by the bytes of its tokens: which of them an expression allows is found in one walk. */
export class TokenTrie {
  /** Bytes of the longest token in the trie. */
  readonly reach: number;
  /** Of node n: its byte, its first child, its next sibling, the first token that ends there. */
  private readonly byte: Uint8Array;
  private readonly child: Int32Array;
  private readonly sibling: Int32Array;
  private readonly token: Int32Array;
  /** The next token of the same bytes. */
  private readonly twin: Int32Array;
  private readonly long: [number, Buffer][] = [];
  private nodes = 1;

  /** `bytes[id]`: null for a token that is no text. */
  constructor(private readonly bytes: readonly (Buffer | null)[]) {
    const total = bytes.reduce((sum, each) => sum + (each?.length ?? 0), 1);
    this.reach = LONGEST_IN_TRIE;
    this.byte = new Uint8Array(total);
    this.child = new Int32Array(total).fill(NONE);
    this.sibling = new Int32Array(total).fill(NONE);
    this.token = new Int32Array(total).fill(NONE);
    this.twin = new Int32Array(bytes.length).fill(NONE);
    for (const [id, each] of bytes.entries()) {
      if (!each || each.length === 0) continue;
      if (each.length > this.reach) this.long.push([id, each]);
      else this.insert(id, each);
    }
  }

  /** Ids are below. */
  get size(): number {
    return this.bytes.length;
  }

  bytesOf(id: number): Buffer | null {
    return this.bytes[id] ?? null;
  }

  /** Adds the tokens that are longer than `reach` and may stand next. Throws TooComplex. */
  addLong(set: TokenSet, start: Expression, nothing: Expression): void {
    for (const [id, bytes] of this.long) {
      let state = start;
      for (let i = 0; i < bytes.length && state !== nothing; i++) state = state.after(bytes[i] ?? 0);
      if (state !== nothing) addToken(set, id);
    }
  }

  /** The tokens of up to `reach` bytes that may stand next. `nothing`: where an expression allows no byte. Throws TooComplex. */
  allowed(start: Expression, nothing: Expression): TokenSet {
    const set = new Uint32Array(Math.ceil(this.size / 32));
    const nodes: number[] = [0];
    const states: Expression[] = [start];
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      const state = states.pop() ?? nothing;
      for (let child = this.child[node] ?? NONE; child !== NONE; child = this.sibling[child] ?? NONE) {
        const next = state.after(this.byte[child] ?? 0);
        if (next === nothing) continue;
        for (let id = this.token[child] ?? NONE; id !== NONE; id = this.twin[id] ?? NONE) addToken(set, id);
        if (this.child[child] === NONE) continue;
        nodes.push(child);
        states.push(next);
      }
    }
    return set;
  }

  private insert(id: number, bytes: Buffer): void {
    let node = 0;
    for (const byte of bytes) node = this.find(node, byte) ?? this.add(node, byte);
    this.twin[id] = this.token[node] ?? NONE;
    this.token[node] = id;
  }

  private find(node: number, byte: number): number | null {
    let child = this.child[node] ?? NONE;
    while (child !== NONE && this.byte[child] !== byte) child = this.sibling[child] ?? NONE;
    return child === NONE ? null : child;
  }

  private add(node: number, byte: number): number {
    const child = this.nodes++;
    this.byte[child] = byte;
    this.sibling[child] = this.child[node] ?? NONE;
    this.child[node] = child;
    return child;
  }
}
