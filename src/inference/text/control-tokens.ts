import type { ChatMessage } from '../prompt-codec.js';
import type { Tokenizer } from '../generation/token-decoder.js';

/** First of a block of characters that no text should have; one that the texts at hand have not becomes the mark. */
const FIRST_MARK = 0xfdd0;
/** Added tokens that are not called special but look like `<think>` or `[INST]` are control tokens all the same. */
const LOOKS_LIKE_CONTROL = /^(?:<.+>|\[.+\])$/s;

/** What a client says in a prompt. */
export interface ClientTexts {
  messages: ChatMessage[];
  tools?: readonly object[] | undefined;
}

/** Texts in which every control token has a mark behind its first character; null: there is none in them. */
export interface MarkedTexts extends ClientTexts {
  mark: string | null;
}

/**
 * The tokens that a model takes for more than text. What a client writes is text, also where it is spelt like one of
 * these: it is marked before the template adds the true ones, and the mark is taken out when they have been found.
 */
export class ControlTokens {
  private readonly ids = new Set<number>();
  /** Of an assistant's former words only special tokens are marked: templates look for the others in them. */
  private readonly special: RegExp | null;
  private readonly all: RegExp | null;

  constructor(private readonly tokenizer: Tokenizer) {
    const special: string[] = [];
    const others: string[] = [];
    for (const [id, token] of tokenizer.get_added_tokens_decoder()) {
      // A single character cannot be broken.
      if ([...token.content].length < 2 || !(token.special || LOOKS_LIKE_CONTROL.test(token.content))) continue;
      this.ids.add(id);
      (token.special ? special : others).push(token.content);
    }
    this.special = anyOf(special);
    this.all = anyOf([...special, ...others]);
  }

  mark({ messages, tools }: ClientTexts): MarkedTexts {
    const all = JSON.stringify([messages, tools ?? []]);
    const texts = stringsOf([messages, tools ?? []]);
    if (!texts.some((text) => this.all?.test(text))) return { messages, tools, mark: null };
    let code = FIRST_MARK;
    while (all.includes(String.fromCodePoint(code))) code++;
    const mark = String.fromCodePoint(code);
    const marked = messages.map(({ role, content, ...others }) => {
      const tokens = role === 'assistant' ? this.special : this.all;
      const rest = mapStrings(others, (text) => broken(text, this.all, mark));
      return { role, content: broken(content, tokens, mark), ...rest };
    });
    return { messages: marked, tools: tools && mapStrings(tools, (text) => broken(text, this.all, mark)), mark };
  }

  /** Token ids of a rendered prompt: true control tokens as such, marked ones as the text they are. */
  encode(text: string, mark: string | null): number[] {
    if (mark === null || !text.includes(mark)) return this.idsOf(text);
    const pieces = text.split(mark).flatMap((piece) => this.idsOf(piece));
    const { normalizer } = this.tokenizer;
    let ids: number[];
    try {
      // Added tokens are found before a text is normalised, so the mark has done its work by then.
      this.tokenizer.normalizer = (found) => {
        const clean = found.replaceAll(mark, '');
        return normalizer === null ? clean : normalizer(clean);
      };
      ids = this.idsOf(text);
    } finally {
      this.tokenizer.normalizer = normalizer;
    }
    // Some tokenizers look once more behind the normaliser, or have control tokens among their words.
    return this.count(ids) === this.count(pieces) ? ids : pieces;
  }

  private idsOf(text: string): number[] {
    // A template writes its own special tokens; the tokenizer must not add them once more.
    return this.tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  private count(ids: readonly number[]): number {
    return ids.filter((id) => this.ids.has(id)).length;
  }
}

function anyOf(tokens: readonly string[]): RegExp | null {
  if (tokens.length === 0) return null;
  const escaped = [...tokens]
    .sort((a, b) => b.length - a.length)
    .map((token) => token.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(escaped.join('|'), 'su');
}

/** Until none is left: breaking one may bare another that overlaps it. */
function broken(text: string, tokens: RegExp | null, mark: string): string {
  let left = text;
  while (tokens?.test(left)) {
    left = left.replace(new RegExp(tokens, 'gsu'), (token) => {
      const [first = ''] = token;
      return `${first}${mark}${token.slice(first.length)}`;
    });
  }
  return left;
}

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...stringsOf(item)]);
}

function mapStrings<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => mapStrings(item, change)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), mapStrings(item, change)])) as T;
}
