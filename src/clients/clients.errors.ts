import { DomainError } from '../errors/index.js';
import type { Scope } from './scopes.js';

/** The request names nobody. */
export function missingApiKey(): DomainError {
  return new DomainError('missing_api_key', 'Send your token as "Authorization: Bearer lmsp_…".');
}

/** The token is misspelt, unknown or revoked; which of them is nobody's business. */
export function invalidApiKey(): DomainError {
  return new DomainError('invalid_api_key', 'This token is not valid; check it or pair again.');
}

export function tokenExpired(): DomainError {
  return new DomainError('token_expired', 'This token has expired; pair again.');
}

/** The client is known, but not allowed this. */
export class InsufficientScope extends DomainError {
  constructor(readonly scope: Scope) {
    super('insufficient_scope', `This needs the scope ${scope}; ask the owner of the service for it.`);
    this.name = 'InsufficientScope';
  }
}

/** Unknown ids, and revoked clients where a live one is asked for. */
export function clientNotFound(): DomainError {
  return new DomainError('client_not_found', 'There is no such client.');
}

export function lastOwner(): DomainError {
  return new DomainError(
    'last_owner',
    'This is the last owner: it keeps every scope and cannot be revoked; rotate it.',
  );
}
