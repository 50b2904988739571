/** Prompt tokens per run when no row is decoding: larger chunks are no faster (ENGINE 2.5, 2.9). */
export const CHUNK_ALONE = 128;
/** Where the cuts of a prompt must not depend on what runs beside it, and while nothing is known of its pace. */
export const CHUNK_FIXED = 64;
/** While rows decode, each chunk delays their next token. Of these sizes the largest that is quick enough, else the last. */
export const CHUNKS_BESIDE_DECODING: readonly number[] = [CHUNK_ALONE, CHUNK_FIXED, 32];

/** What rows that decode wait for a chunk, at most, where the chunk can be cut so: milliseconds, or steps of theirs. */
const DELAY_MS = 40;
const DELAY_STEPS = 4;
/** Weight of the latest run in what is expected of the next. */
const LATEST = 0.25;
/** What is shorter takes a run's fixed costs, and tells little of the pace. */
const TELLING_TOKENS = 32;

/** How fast a model has been of late, and the size of chunks that follows from it (ENGINE 4.4). */
export class PrefillPace {
  private msPerToken: number | null = null;
  private msPerStep = 0;

  prefilled(tokens: number, ms: number): void {
    if (tokens < TELLING_TOKENS) return;
    const latest = ms / tokens;
    this.msPerToken = this.msPerToken === null ? latest : moved(this.msPerToken, latest);
  }

  decoded(ms: number): void {
    this.msPerStep = this.msPerStep === 0 ? ms : moved(this.msPerStep, ms);
  }

  /** Tokens of the next chunk, at most; `decoding`: there are rows whose next tokens it delays. */
  chunk(decoding: boolean): number {
    const { msPerToken } = this;
    if (!decoding) return CHUNK_ALONE;
    if (msPerToken === null) return CHUNK_FIXED;
    const delay = Math.max(DELAY_MS, DELAY_STEPS * this.msPerStep);
    return CHUNKS_BESIDE_DECODING.find((size) => size * msPerToken <= delay) ?? CHUNKS_BESIDE_DECODING.at(-1)!;
  }
}

function moved(from: number, to: number): number {
  return from + LATEST * (to - from);
}

/**
 * Length of the next chunk of `remaining` prompt tokens (≥ 1), at most `size` (≥ 4). Chunks of 1 modulo 64 tokens run a
 * different kernel and would make the cache depend on the plan (ENGINE 2.7); only a prompt of one token cannot avoid it.
 */
export function nextChunk(remaining: number, size: number): number {
  let length = Math.min(remaining, size);
  while (length > 1 && (length % 64 === 1 || remaining - length === 1)) length--;
  return length;
}
