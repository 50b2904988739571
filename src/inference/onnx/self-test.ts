import type { TextLayout } from '../../graphs/index.js';
import { OnnxLanguageModel, type KvMode } from './onnx-language-model.js';
import type { OnnxSession } from './session.js';

const CAPACITY = 16;
/** Both paths run the same kernels; this only allows for the last bits, against logits of size 1 and up. */
const TOLERANCE = 1e-2;

/**
 * Whether past and present may share memory in this build of the runtime (ENGINE 2): two rows of different length are
 * prefilled and then decoded together twice, in place and by copying. The second decode step reads what the first one
 * wrote, so equal logits mean that the cache was updated in place, at the right positions.
 */
export async function worksInPlace(session: OnnxSession, layout: TextLayout): Promise<boolean> {
  if (!session.runInPlace) return false;
  const copying = await probe(session, layout, 'copying');
  const inPlace = await probe(session, layout, 'in-place').catch(() => []);
  return inPlace.length === copying.length && copying.every((value, i) => Math.abs(value - inPlace[i]!) <= TOLERANCE);
}

async function probe(session: OnnxSession, layout: TextLayout, kvMode: KvMode): Promise<number[]> {
  const model = new OnnxLanguageModel(session, layout, { rows: 2, contextLength: CAPACITY, kvMode });
  const id = (i: number): number => (i * 31 + 7) % layout.vocabularySize;
  const seen: number[] = [];
  const prompts = [6, 4].map((length, row) => Array.from({ length }, (_, i) => id(row * 13 + i)));
  for (const [row, ids] of prompts.entries()) seen.push(...(await model.prefill(row, ids.slice(0, 2), 0)));
  for (const [row, ids] of prompts.entries()) seen.push(...(await model.prefill(row, ids.slice(2), 2)));
  for (const step of [0, 1]) {
    const logits = await model.decode(
      prompts.map((ids, row) => ({ tokenId: id(40 + row + step), past: ids.length + step })),
      0,
    );
    for (const row of logits) seen.push(...row);
  }
  return seen;
}
