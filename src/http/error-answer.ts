import type { ServerResponse } from 'node:http';
import { ERROR_CODES, STATUS_OF_KIND, type DomainError } from '../errors/index.js';
import { noteError } from './answered-error.js';
import { challengeOf } from './challenge.js';
import { isOAuth, oauthBody } from './oauth-error.js';
import { retryAfterOf } from './retry-after.js';

/** Answers with the envelope of WIRE B9 and every header that belongs to the error. */
export function sendError(response: ServerResponse, error: DomainError): void {
  noteError(response, error.code);
  const { retry } = ERROR_CODES[error.code] as { retry?: boolean };
  if (retry !== undefined) response.setHeader('x-should-retry', String(retry));
  const retryAfter = retryAfterOf(error.kind, error.retryAfterSeconds);
  if (retryAfter !== null) response.setHeader('Retry-After', retryAfter);
  const challenge = challengeOf(error);
  if (challenge !== null) response.setHeader('WWW-Authenticate', challenge);
  response.statusCode = STATUS_OF_KIND[error.kind];
  const body = JSON.stringify(isOAuth(response, error) ? oauthBody(error) : { error: error.toBody() });
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}
