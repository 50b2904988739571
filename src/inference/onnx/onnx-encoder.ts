import type { EncoderLayout } from '../../graphs/index.js';
import type { Encoder, TokenRow } from '../encoding/encoder.js';
import type { EncoderFiles } from '../encoding/encoder-files.js';
import { normalized, pool } from '../encoding/pooling.js';
import type { PairTokenizer } from './open-encoder.js';
import type { OnnxSession, Tensors } from './session.js';
import { halfToFloat, tensor, type FloatArray } from './tensor.js';

export interface OnnxEncoderParts {
  session: OnnxSession;
  layout: EncoderLayout;
  files: EncoderFiles;
  tokenizer: PairTokenizer;
  batchRows: number;
}

/** An encoder graph with its tokenizer and what its folder says of pooling. */
export class OnnxEncoder implements Encoder {
  readonly contextLength: number;
  readonly batchRows: number;

  constructor(private readonly parts: OnnxEncoderParts) {
    this.contextLength = parts.files.contextLength;
    this.batchRows = parts.batchRows;
  }

  /** Padding and truncation that tokenizer.json may ask for are not done: rows are as long as their texts (ENGINE 2.9). */
  tokenize(text: string, query: string | undefined): TokenRow {
    const { tokenizer, files } = this.parts;
    const cased = (words: string): string => (files.lowerCase ? words.toLowerCase() : words);
    const pair = query === undefined ? {} : { text_pair: cased(text) };
    const { ids, token_type_ids: typeIds } = tokenizer.encode(cased(query ?? text), {
      ...pair,
      add_special_tokens: true,
      return_token_type_ids: true,
    });
    return { ids, typeIds: typeIds ?? ids.map(() => 0) };
  }

  async run(rows: readonly TokenRow[]): Promise<Float32Array[]> {
    const { session, layout } = this.parts;
    const width = Math.max(...rows.map(({ ids }) => ids.length));
    const results = await session.run(this.inputs(rows, width));
    const raw = results[layout.output]!.data as FloatArray;
    const values = raw instanceof Uint16Array ? halfToFloat(raw) : raw;
    return rows.map(({ ids }, row) => this.vector(values, row, ids.length, width));
  }

  private vector(values: Float32Array, row: number, tokens: number, width: number): Float32Array {
    const { layout, files } = this.parts;
    const { size, gives } = layout;
    if (gives === 'texts') {
      const vector = values.slice(row * size, (row + 1) * size);
      return files.normalize ? normalized(vector) : vector;
    }
    const data = values.subarray(row * width * size, (row * width + tokens) * size);
    const vector = pool({ data, tokens, size }, files.pooling);
    return files.normalize ? normalized(vector) : vector;
  }

  /** Short rows are padded on the right. */
  private inputs(rows: readonly TokenRow[], width: number): Tensors {
    const { layout, files } = this.parts;
    const dims = [rows.length, width];
    const ids = new BigInt64Array(rows.length * width).fill(BigInt(files.padTokenId));
    const mask = new BigInt64Array(rows.length * width);
    const types = new BigInt64Array(rows.length * width);
    rows.forEach((row, r) => {
      row.ids.forEach((id, i) => (ids[r * width + i] = BigInt(id)));
      row.typeIds.forEach((type, i) => (types[r * width + i] = BigInt(type)));
      mask.fill(1n, r * width, r * width + row.ids.length);
    });
    return {
      input_ids: tensor('int64', ids, dims),
      ...(layout.wantsMask && { attention_mask: tensor('int64', mask, dims) }),
      ...(layout.wantsTypes && { token_type_ids: tensor('int64', types, dims) }),
    };
  }
}
