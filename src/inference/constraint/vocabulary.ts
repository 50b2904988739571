import type { OutputConstraint } from '../output-constraint.js';
import { tokenBytesOf } from './token-bytes.js';
import { TokenConstraint, type TokenKinds } from './token-constraint.js';
import { TokenTrie } from './token-trie.js';

/** Constraints kept ready, by their content. */
const KEPT_CONSTRAINTS = 8;

/** What is used of a tokenizer here. */
export interface TokenList {
  get_vocab(withAddedTokens: boolean): Map<string, number>;
  get_added_tokens_decoder(): Map<number, { special: boolean; content: string }>;
}

/** The tokens of a model as bytes of text, and what its outputs are held to. Built when it is first asked for. */
export class Vocabulary {
  private known: { trie: TokenTrie; special: Map<number, string> } | null = null;
  private readonly constraints = new Map<string, TokenConstraint>();
  private readonly bytes: ((token: string) => Buffer) | null;

  /** `content`: of tokenizer.json. */
  constructor(
    private readonly tokens: TokenList,
    content: Record<string, unknown>,
    private readonly endTokenIds: ReadonlySet<number>,
  ) {
    this.bytes = tokenBytesOf(content);
  }

  /** Throws where the tokenizer's tokens are no text of their own, and as TokenConstraint does. */
  constraint(constraint: OutputConstraint): TokenConstraint {
    const key = JSON.stringify(constraint);
    let found = this.constraints.get(key);
    this.constraints.delete(key);
    if (found === undefined) {
      const { trie, special } = this.read();
      const kinds: TokenKinds = { endTokenIds: this.endTokenIds, special };
      found = new TokenConstraint(trie, kinds, constraint);
    }
    this.constraints.set(key, found);
    if (this.constraints.size > KEPT_CONSTRAINTS) this.constraints.delete(this.constraints.keys().next().value!);
    return found;
  }

  /** What the token adds to a text; empty for special tokens. */
  bytesOf(tokenId: number): Buffer {
    return this.bytes === null ? Buffer.alloc(0) : (this.read().trie.bytesOf(tokenId) ?? Buffer.alloc(0));
  }

  private read(): { trie: TokenTrie; special: Map<number, string> } {
    if (this.bytes === null) throw new Error("this model's tokenizer does not allow a form of output to be enforced");
    if (this.known !== null) return this.known;
    const list: (Buffer | null)[] = [];
    const special = new Map<number, string>();
    for (const [token, id] of this.tokens.get_vocab(true)) list[id] = this.bytes(token);
    for (const [id, token] of this.tokens.get_added_tokens_decoder()) {
      const silent = token.special || this.endTokenIds.has(id);
      list[id] = silent ? null : Buffer.from(token.content, 'utf8');
      if (silent && !this.endTokenIds.has(id)) special.set(id, token.content);
    }
    for (const id of this.endTokenIds) list[id] = null;
    this.known = { trie: new TokenTrie(Array.from(list, (bytes) => bytes ?? null)), special };
    return this.known;
  }
}
