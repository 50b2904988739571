import { DomainError } from '../errors/index.js';

/** Missing and foreign responses are the same to their caller (WIRE B0). */
export function responseNotFound(id: string): DomainError {
  return new DomainError('response_not_found', `No response with id "${id}" exists.`);
}

export function responseInProgress(id: string): DomainError {
  return new DomainError('response_in_progress', `The response "${id}" is unfinished; cancel it first.`);
}

export function responseNotCancellable(status: string): DomainError {
  return new DomainError('response_not_cancellable', `The response has ended; it is ${status}.`);
}
