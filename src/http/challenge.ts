import type { DomainError } from '../errors/index.js';

const REALM = 'Bearer realm="lmsp"';

/** The WWW-Authenticate value of a refusal (WIRE B8, RFC 6750), or null where none belongs. */
export function challengeOf(error: DomainError): string | null {
  switch (error.code) {
    case 'missing_api_key':
      return REALM;
    case 'invalid_api_key':
    case 'token_expired':
      return `${REALM}, error="invalid_token"`;
    case 'insufficient_scope':
      return `${REALM}, error="insufficient_scope"${scopeOf(error)}`;
    default:
      return null;
  }
}

/** An error for want of a scope names it in a field `scope`. */
function scopeOf(error: DomainError): string {
  return 'scope' in error && typeof error.scope === 'string' ? `, scope="${error.scope}"` : '';
}
