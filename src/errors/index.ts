export { DomainError, type DomainErrorOptions, type ErrorBody } from './domain-error.js';
export { ERROR_CODES, ERROR_KINDS, type ErrorCode, type ErrorKind } from './error-codes.js';
export { STATUS_OF_KIND } from './error-status.js';
export { ServiceStopping } from './service-stopping.js';
export { StartRefused } from './start-refused.js';
