import type { TextLayout } from '../../graphs/index.js';
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
}

export interface CanaryOptions {
  kvMode: KvMode;
  contextLength: number;
  /** Rows decoded together at most. */
  rows: number;
}

/** Numbers of rows that are known to choose different kernels. */
const BATCHES = [2, 3, 8];
const LONGEST_PROMPT = 130;
const CHUNK_PLANS = [
  [128, 2],
  [64, 64, 2],
];

/** Runs one decode step with 1, 2, 3 and 8 rows and one prompt in two cuts, and compares the bits. */
export async function measureKernels(
  session: OnnxSession,
  layout: TextLayout,
  { kvMode, contextLength, rows }: CanaryOptions,
): Promise<Kernels> {
  const width = Math.max(1, Math.min(rows, 8));
  const capacity = Math.min(contextLength, LONGEST_PROMPT + 2);
  const model = new OnnxLanguageModel(session, layout, { rows: width, contextLength: capacity, kvMode });
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
  return {
    classes: classesOf(alone, batches),
    repeatable: sameBits(alone[0]!, (await step(0, 1))[0]!),
    chunksEqual: capacity < LONGEST_PROMPT + 2 || (await chunksEqual(model, id)),
  };
}

function classesOf(alone: Float32Array[], batches: Float32Array[][]): 1 | 2 | 3 {
  const widest = batches.at(-1) ?? [];
  const agree = batches.every((batch) => batch.every((logits, row) => sameBits(logits, widest[row]!)));
  if (!agree) return 3;
  return widest.every((logits, row) => sameBits(logits, alone[row]!)) ? 1 : 2;
}

/** Compares what the next token makes of the cache, which is what counts. */
async function chunksEqual(model: OnnxLanguageModel, id: (i: number) => number): Promise<boolean> {
  const seen: Float32Array[] = [];
  for (const plan of CHUNK_PLANS) {
    let past = 0;
    for (const length of plan) {
      await model.prefill(
        0,
        Array.from({ length }, (_, i) => id(past + i)),
        past,
      );
      past += length;
    }
    const [logits] = await model.decode([{ tokenId: id(past), past }], 0);
    seen.push(logits!.slice());
  }
  return sameBits(seen[0]!, seen[1]!);
}

function sameBits(a: Float32Array, b: Float32Array): boolean {
  return Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));
}
