import type { ServerResponse } from 'node:http';
import type { DomainError, ErrorCode, ErrorKind } from '../errors/index.js';

/** Codes that stand in the RFCs themselves. */
const OWN: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_grant',
  'invalid_scope',
  'unsupported_grant_type',
  'unsupported_token_type',
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
  'server_error',
];

const LATER: readonly ErrorKind[] = ['limited', 'unavailable', 'timeout', 'storage_full'];

/** Whoever is refused so has not come as far as any route: the same answer wherever it knocks (CASES BL-36). */
const BEFORE_ROUTES: readonly ErrorCode[] = ['host_not_allowed', 'origin_not_allowed'];

/** Whether the error is one of a route of OAuth, whose errors have another form (WIRE B8). */
export function isOAuth({ req }: ServerResponse, { code }: DomainError): boolean {
  if (BEFORE_ROUTES.includes(code)) return false;
  const url = 'originalUrl' in req && typeof req.originalUrl === 'string' ? req.originalUrl : (req.url ?? '');
  return url.startsWith('/oauth/');
}

/** `{error, error_description}` (RFC 6749 5.2), the only exception to the envelope of WIRE B9. */
export function oauthBody({ code, kind, message }: DomainError): { error: string; error_description: string } {
  return { error: nameOf(code, kind), error_description: message };
}

function nameOf(code: ErrorCode, kind: ErrorKind): string {
  if (OWN.includes(code)) return code;
  if (LATER.includes(kind)) return 'temporarily_unavailable';
  return kind === 'internal' ? 'server_error' : 'invalid_request';
}
