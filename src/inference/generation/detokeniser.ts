/** Turns ids into text; called with non-empty lists. Must be the same function on every call. */
export type Decode = (ids: number[]) => string;

const REPLACEMENT = '\uFFFD';

/**
 * Ids waiting behind a U+FFFD before all but the last such character is let out. An unfinished character is at most
 * 3 bytes of UTF-8, so what stands before the last one is broken for good and must not hold the stream up.
 */
const PATIENCE = 8;
/** Ids kept as context then: enough to hold the beginning of an unfinished character. */
const TAIL = 4;

/**
 * Text of a growing id list, piece by piece (ENGINE 4.6): decoding token by token is wrong for split characters and
 * leading spaces, so a short window is decoded again and what was let out before is taken off. The pieces joined,
 * the flushed one included, equal the decoding of the whole list.
 */
export class Detokeniser {
  private window: number[] = [];
  /** Ids of the window that are context: their text is out. */
  private context = 0;
  /** The beginning of the window's text that is out already. */
  private sent = '';

  constructor(private readonly decode: Decode) {}

  /** Text that became certain with this id; often a word, sometimes nothing. */
  push(id: number): string {
    this.window.push(id);
    const text = this.decode(this.window);
    if (text.endsWith(REPLACEMENT)) return this.window.length - this.context < PATIENCE ? '' : this.letOutBroken(text);
    const fresh = text.slice(this.sent.length);
    if (fresh === '') return '';
    this.window = this.window.slice(this.context);
    this.context = this.window.length;
    this.sent = this.decode(this.window);
    return fresh;
  }

  /** What is left when no more ids come: an unfinished character comes out as U+FFFD. */
  flush(): string {
    if (this.window.length === 0) return '';
    const text = this.decode(this.window).slice(this.sent.length);
    this.window = [];
    this.context = 0;
    this.sent = '';
    return text;
  }

  private letOutBroken(text: string): string {
    const fresh = text.slice(this.sent.length, -1);
    this.window = this.window.slice(-TAIL);
    this.context = 0;
    this.sent = this.decode(this.window).slice(0, -1);
    return fresh;
  }
}
