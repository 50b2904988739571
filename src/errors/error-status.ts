import type { ErrorKind } from './error-codes.js';

/** The only place where the domain's kinds of error become HTTP statuses (WIRE B9). */
export const STATUS_OF_KIND = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  limited: 429,
  internal: 500,
  unavailable: 503,
  timeout: 504,
  storage_full: 507,
} as const satisfies Record<ErrorKind, number>;
