import { ERROR_CODES, type ErrorCode, type ErrorKind } from './error-codes.js';

/** The machine-readable part of an error, as it stands in a task, in a response and (WIRE B9) in an HTTP body. */
export interface ErrorBody {
  type: string;
  code: string;
  message: string;
  param: string | null;
}

export interface DomainErrorOptions {
  /** Name of the offending field, path form (`input[0].content`), or null. */
  param?: string | null;
  /** Seconds after which a repeat may succeed; becomes Retry-After. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/**
 * Every refusal the service gives on purpose. `code` is stable and part of the API; `message` says what to do;
 * modules choose a code and never mention HTTP: the one filter maps the code's kind to a status.
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, message: string, options: DomainErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DomainError';
    this.code = code;
    this.kind = ERROR_CODES[code].kind;
    this.param = options.param ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }

  toBody(): ErrorBody {
    return { type: ERROR_CODES[this.code].type, code: this.code, message: this.message, param: this.param };
  }
}
