import type { TextLayout } from '../../graphs/index.js';
import { PREFIX_BLOCK_TOKENS } from '../generation/prefix-blocks.js';
import { OnnxLanguageModel, type KvMode } from './onnx-language-model.js';
import type { OnnxSession } from './session.js';

/** What a model's kernels do on this processor (ENGINE 2.8). */
export interface Kernels {
  /** 1: a row has the same bits alone and beside any number of others. 2: a lone row differs from all batches. Else 3. */
  classes: 1 | 2 | 3;
  /** The same run twice has the same bits. */
  repeatable: boolean;
  /** The cache of a prompt does not depend on how it was cut into chunks. */
  chunksEqual: boolean;
  /** Nor on whether its beginning was taken in or copied from another prompt; null: that was not tried. */
  prefixesEqual: boolean | null;
}

export interface CanaryOptions {
  kvMode: KvMode;
  contextLength: number;
  /** Rows decoded together at most. */
  rows: number;
  /** Beginnings of prompts are to be reused. */
  prefixes: boolean;
}

/** Numbers of rows that are known to choose different kernels. */
const BATCHES = [2, 3, 8];
const LONGEST_PROMPT = 130;
const CHUNK_PLANS = [
  [128, 2],
  [32, 32, 64, 2],
];

/** Runs one decode step with 1, 2, 3 and 8 rows and one prompt in two cuts and behind a copy, and compares the bits. */
export async function measureKernels(
  session: OnnxSession,
  layout: TextLayout,
  { kvMode, contextLength, rows, prefixes }: CanaryOptions,
): Promise<Kernels> {
  const width = Math.max(1, Math.min(rows, 8));
  const capacity = Math.min(contextLength, LONGEST_PROMPT + 2);
  const model = new OnnxLanguageModel(session, layout, { rows: Math.max(width, 2), contextLength: capacity, kvMode });
  const id = (i: number): number => (i * 31 + 7) % layout.vocabularySize;
  const lengths = Array.from({ length: width }, (_, row) => Math.min(2 + row, capacity - 1));
  for (const [row, length] of lengths.entries()) {
    await model.prefill(
      row,
      Array.from({ length }, (_, i) => id(i + row * 13)),
      0,
    );
  }
  const step = async (first: number, count: number): Promise<Float32Array[]> => {
    const inputs = lengths.slice(first, first + count).map((past, i) => ({ tokenId: id(40 + first + i), past }));
    return (await model.decode(inputs, first)).map((logits) => logits.slice());
  };
  const alone: Float32Array[] = [];
  for (let row = 0; row < width; row++) alone.push(...(await step(row, 1)));
  const batches: Float32Array[][] = [];
  for (const count of new Set([...BATCHES.filter((count) => count < width), width])) {
    if (count > 1) batches.push(await step(0, count));
  }
  const repeatable = sameBits(alone[0]!, (await step(0, 1))[0]!);
  const cuts = capacity < LONGEST_PROMPT + 2 ? [] : await cutResults(model, id, prefixes);
  const chunksEqual = cuts.length === 0 || sameBits(cuts[0]!, cuts[1]!);
  const prefixesEqual = cuts.length > 2 ? chunksEqual && sameBits(cuts[0]!, cuts[2]!) : null;
  return { classes: classesOf(alone, batches), repeatable, chunksEqual, prefixesEqual };
}

function classesOf(alone: Float32Array[], batches: Float32Array[][]): 1 | 2 | 3 {
  const widest = batches.at(-1) ?? [];
  const agree = batches.every((batch) => batch.every((logits, row) => sameBits(logits, widest[row]!)));
  if (!agree) return 3;
  return widest.every((logits, row) => sameBits(logits, alone[row]!)) ? 1 : 2;
}

/**
 * What the next token makes of the cache, which is what counts, behind one prompt: by each plan, and where it can be
 * tried, with its first block copied to a row that held something else.
 */
async function cutResults(
  model: OnnxLanguageModel,
  id: (i: number) => number,
  prefixes: boolean,
): Promise<Float32Array[]> {
  const seen: Float32Array[] = [];
  const take = async (row: number, plan: readonly number[], from: number): Promise<void> => {
    let past = from;
    for (const length of plan) {
      const ids = Array.from({ length }, (_, i) => id(past + i));
      await model.prefill(row, ids, past);
      past += length;
    }
    const [logits] = await model.decode([{ tokenId: id(past), past }], row);
    seen.push(logits!.slice());
  };
  for (const plan of CHUNK_PLANS) await take(0, plan, 0);
  const rows = model.blockRows;
  if (!prefixes || rows === null) return seen;
  const block = rows.createBlock();
  rows.readBlock(0, 0, block);
  rows.writeBlock(1, 0, block);
  await take(1, [LONGEST_PROMPT - PREFIX_BLOCK_TOKENS], PREFIX_BLOCK_TOKENS);
  return seen;
}

function sameBits(a: Float32Array, b: Float32Array): boolean {
  return Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));
}
