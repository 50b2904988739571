import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '../errors/index.js';

const CODES = new WeakMap<ServerResponse, ErrorCode>();

/** Notes the error that an answer is, for the notice at its end. */
export function noteError(response: ServerResponse, code: ErrorCode): void {
  CODES.set(response, code);
}

/** Code of the error that the answer is, or null. */
export function answeredError(response: ServerResponse): ErrorCode | null {
  return CODES.get(response) ?? null;
}
