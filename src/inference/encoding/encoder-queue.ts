import type { TokenRow } from './encoder.js';

/** A text that waits for its run. */
export interface QueuedText {
  request: string;
  index: number;
  row: TokenRow;
}

export interface BatchLimits {
  rows: number;
  /** Rows times the longest of them: padding counts. */
  tokens: number;
}

/** A row may be padded to this many times its length: past that, a run of its own costs less. */
const MOST_PADDING = 2;

/** Texts that wait to be run: the requests take turns, and each gives its longest first, so that like meets like. */
export class EncoderQueue {
  /** By turn: whose is next stands first. */
  private readonly requests = new Map<string, QueuedText[]>();

  get isEmpty(): boolean {
    return this.requests.size === 0;
  }

  add(request: string, rows: readonly TokenRow[]): void {
    const texts = rows.map((row, index) => ({ request, index, row }));
    // Taken from the end.
    texts.sort((a, b) => a.row.ids.length - b.row.ids.length);
    if (texts.length > 0) this.requests.set(request, texts);
  }

  drop(request: string): void {
    this.requests.delete(request);
  }

  /** The texts of the next run, which leave the queue; at least one unless it is empty. */
  next(limits: BatchLimits): QueuedText[] {
    const batch: QueuedText[] = [];
    const turn = [...this.requests];
    for (let before = -1; before < batch.length && batch.length < limits.rows;) {
      before = batch.length;
      for (const [, texts] of turn) {
        const text = texts.at(-1);
        if (text !== undefined && fits(text, batch, limits)) batch.push(texts.pop()!);
      }
    }
    this.endTurn(turn);
    return batch;
  }

  /** The first of this turn is the last of the next. */
  private endTurn(turn: [string, QueuedText[]][]): void {
    const [first] = turn;
    if (first !== undefined) {
      this.requests.delete(first[0]);
      this.requests.set(...first);
    }
    for (const [request, texts] of turn) if (texts.length === 0) this.requests.delete(request);
  }
}

function fits({ row }: QueuedText, batch: readonly QueuedText[], { rows, tokens }: BatchLimits): boolean {
  if (batch.length === 0) return true;
  if (batch.length >= rows) return false;
  const lengths = [row, ...batch.map((text) => text.row)].map(({ ids }) => ids.length);
  const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)];
  return longest <= MOST_PADDING * shortest && longest * lengths.length <= tokens;
}
