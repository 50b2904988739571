/** Prompt tokens per run when no row is decoding: larger chunks are no faster (ENGINE 2.5, 2.9). */
export const CHUNK_ALONE = 128;
/** While rows decode, each chunk delays their next token, so it is shorter. */
export const CHUNK_BESIDE_DECODING = 64;

/**
 * Length of the next chunk of `remaining` prompt tokens (≥ 1), at most `size` (≥ 4). Chunks of 1 modulo 64 tokens run a
 * different kernel and would make the cache depend on the plan (ENGINE 2.7); only a prompt of one token cannot avoid it.
 */
export function nextChunk(remaining: number, size: number): number {
  let length = Math.min(remaining, size);
  while (length > 1 && (length % 64 === 1 || remaining - length === 1)) length--;
  return length;
}
