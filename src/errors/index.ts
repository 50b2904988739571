export { DomainError, type DomainErrorOptions, type ErrorBody } from './domain-error.js';
export { ERROR_CODES, ERROR_KINDS, type ErrorCode, type ErrorKind } from './error-codes.js';
export { ServiceStopping } from './service-stopping.js';
