import { setImmediate as nextTurn } from 'node:timers/promises';

/** Numbers that are written as text between two turns of the event loop: some milliseconds of it. */
const NUMBERS_A_TURN = 16_384;

/**
 * The elements of `data` as JSON. The largest answer has millions of numbers, which at once would hold up every other
 * request for a second; so others have their turn in between.
 */
export async function embeddingJson(
  vectors: readonly Float32Array[],
  written: (vector: Float32Array) => string | number[],
): Promise<string> {
  const elements: string[] = [];
  let numbers = 0;
  for (const [index, vector] of vectors.entries()) {
    elements.push(JSON.stringify({ object: 'embedding', index, embedding: written(vector) }));
    numbers += vector.length;
    if (numbers < NUMBERS_A_TURN) continue;
    numbers = 0;
    await nextTurn();
  }
  return `[${elements.join(',')}]`;
}
