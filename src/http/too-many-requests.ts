import { DomainError } from '../errors/index.js';

/** 429 with the time to wait. */
export function tooManyRequests(reason: string, seconds: number): DomainError {
  return new DomainError('rate_limit_exceeded', `${reason} Wait as long as Retry-After says.`, {
    retryAfterSeconds: seconds,
  });
}
