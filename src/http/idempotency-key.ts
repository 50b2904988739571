import { createHash } from 'node:crypto';
import { DomainError } from '../errors/index.js';

export const IDEMPOTENCY_HEADER = 'Idempotency-Key';

const VISIBLE = /^[\x21-\x7e]{1,255}$/;
/** A string of RFC 9651, with its two escapes. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/** A write that its sender may repeat: where its key is looked up, and what the repeat must have in common with it. */
export interface KeyedRequest {
  clientId: string;
  method: string;
  /** Pattern of the route; what stands in its place belongs to the fingerprint. */
  route: string;
  key: string;
  /** See `fingerprintOf`. */
  fingerprint: string;
}

/**
 * The key of an Idempotency-Key header (WIRE B6): 1 to 255 visible ASCII characters, bare or as a quoted string; both
 * forms of a key are the same key. Throws invalid_idempotency_key, also for a header that was sent twice.
 */
export function parseIdempotencyKey(header: string): string {
  const key = header.startsWith('"') ? QUOTED.exec(header)?.[1]?.replace(/\\(["\\])/g, '$1') : header;
  if (key !== undefined && VISIBLE.test(key)) return key;
  throw new DomainError(
    'invalid_idempotency_key',
    `${IDEMPOTENCY_HEADER} must be 1 to 255 visible ASCII characters, bare or in double quotes.`,
    { param: IDEMPOTENCY_HEADER },
  );
}

/** SHA-256 (hex) of the parsed body and the route's parameters, whatever the order of their keys (WIRE B6). */
export function fingerprintOf(body: unknown, parameters: unknown): string {
  const canonical = JSON.stringify({ body: body ?? null, parameters }, withSortedKeys);
  return createHash('sha256').update(canonical).digest('hex');
}

function withSortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
