/** A text as an encoder takes it in. */
export interface TokenRow {
  ids: readonly number[];
  /** Which of the two texts of a pair a token belongs to: 0 or 1. */
  typeIds: readonly number[];
}

/** An opened encoder as the runner's loop sees it. */
export interface Encoder {
  /** Longest row, tokens. */
  readonly contextLength: number;
  /** Rows of one run at most. */
  readonly batchRows: number;
  /** With special tokens; `query` and text as a pair where there is one. */
  tokenize(text: string, query: string | undefined): TokenRow;
  /** One vector a row. Throws what the runtime says. */
  run(rows: readonly TokenRow[]): Promise<Float32Array[]>;
}
