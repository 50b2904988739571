import type { KernelClass } from '../inference-engine.js';
import type { DecodeInput } from './language-model.js';
import type { Row } from './row.js';

/** What the canary found, as far as it decides how rows are run together (ENGINE 2.8). */
export interface KernelRules {
  /** A lone row has kernels of its own: a replayed token must be decoded in its recorded class. */
  loneRowDiffers: boolean;
  /** A lone row gets a partner, so that its kernels are those of a batch. */
  alwaysBatch: boolean;
  /** The cache depends on how a prompt was cut: it is cut the same way whatever runs beside it. */
  fixedChunks: boolean;
}

export const ONE_CLASS: KernelRules = { loneRowDiffers: false, alwaysBatch: false, fixedChunks: false };

/** The kernels that a row's next token must come from; null: any. */
export function wantedClass(row: Row, { loneRowDiffers, alwaysBatch }: KernelRules): KernelClass | null {
  if (!loneRowDiffers) return null;
  return row.loggedClass ?? (alwaysBatch ? 'batch' : null);
}

/**
 * The second row of a run that would hold one: whoever has that place in the cache, or nobody. What the run writes lies
 * behind that row's tokens, where its next chunk or token goes.
 */
export function partner(second: Row | null): DecodeInput {
  return { tokenId: 0, past: second?.past ?? 0 };
}
