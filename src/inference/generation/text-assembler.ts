import type { FinishReason } from '../inference-engine.js';
import type { Vocabulary } from '../constraint/vocabulary.js';
import { Detokeniser, type Decode } from './detokeniser.js';
import { StopScanner } from './stop-scanner.js';

/** What a tokenizer and the model's configuration say about ids. */
export interface TokenDecoder {
  /** Text of a non-empty list of ids without hidden ones. */
  decode: Decode;
  /** Any of these ends the output. */
  readonly endTokenIds: ReadonlySet<number>;
  /** Special tokens: counted, and part of the text only where a request has them shown. */
  readonly hiddenTokenIds: ReadonlySet<number>;
  /** How a special token is spelt. */
  spelling?(tokenId: number): string | undefined;
  /** Highest known id + 1; the model's vocabulary may be padded beyond it. */
  readonly size: number;
  /** What its tokens are written as; absent where nobody asks for constraints or log probabilities. */
  readonly vocabulary?: Vocabulary;
}

export interface AssembledStep {
  index: number;
  tokenId: number;
  text: string;
  finish: FinishReason | null;
}

/**
 * Makes steps out of ids: detokenising, end tokens, stop strings, the token limit. A pure function of the id list, so
 * that a log of ids replayed through a new instance gives the same texts at the same steps (WIRE B5 invariant 11).
 */
export class TextAssembler {
  private readonly detokeniser: Detokeniser;
  private readonly scanner: StopScanner;
  private index = 0;
  private finished = false;

  /** `limit`: tokens at most, at least 1. */
  constructor(
    private readonly decoder: TokenDecoder,
    stop: readonly string[],
    private readonly limit: number,
    private readonly shown: readonly string[] = [],
  ) {
    this.detokeniser = new Detokeniser(decoder.decode);
    this.scanner = new StopScanner(stop);
  }

  /** Takes the next id; `whole`: nothing may follow it. After a step with `finish` there is no next one: throws. */
  push(tokenId: number, whole = false): AssembledStep {
    if (this.finished) throw new Error('the output has ended: no token may follow');
    const index = this.index++;
    const ended = this.decoder.endTokenIds.has(tokenId);
    const last = ended || whole || this.index >= this.limit;
    const { text, matched } = this.scanner.push(this.decodeNext(tokenId, ended, last));
    if (!matched && !last) return { index, tokenId, text, finish: null };
    this.finished = true;
    if (matched) return { index, tokenId, text, finish: 'stop' };
    return { index, tokenId, text: text + this.scanner.flush(), finish: ended || whole ? 'stop' : 'limit' };
  }

  private decodeNext(tokenId: number, ended: boolean, last: boolean): string {
    const hidden = ended || this.decoder.hiddenTokenIds.has(tokenId);
    const text = hidden ? this.shownText(tokenId) : this.detokeniser.push(tokenId);
    return last ? text + this.detokeniser.flush() : text;
  }

  private shownText(tokenId: number): string {
    const spelling = this.decoder.spelling?.(tokenId);
    return spelling !== undefined && this.shown.includes(spelling) ? this.detokeniser.flush() + spelling : '';
  }
}
