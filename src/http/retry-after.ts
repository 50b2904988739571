import type { ErrorKind } from '../errors/index.js';

/** Kinds whose answer always says when to come back (WIRE B9, column "retry header"). */
const COME_BACK_LATER: readonly ErrorKind[] = ['limited', 'unavailable', 'storage_full'];
const DEFAULT_RETRY_SECONDS = 1;

/** Seconds for Retry-After, or null when the header is not sent. */
export function retryAfterOf(kind: ErrorKind, stated: number | null): number | null {
  if (stated !== null) return Math.max(1, Math.ceil(stated));
  return COME_BACK_LATER.includes(kind) ? DEFAULT_RETRY_SECONDS : null;
}
