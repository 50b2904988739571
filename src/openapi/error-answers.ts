import { ERROR_CODES, type ErrorCode } from '../errors/index.js';
import { constant, named, nullable, object, oneOfWords, text, type Schema } from './schema.js';

const TYPES = [...new Set(Object.values(ERROR_CODES).map(({ type }) => type))];

/** The envelope of every refusal (WIRE B9). */
export const ERROR = named(
  'Error',
  object({
    error: object({
      message: text('What is wrong and what to do, in English; may change'),
      type: oneOfWords(TYPES, 'Class of the error'),
      param: nullable(text('Name of the field or parameter that is refused')),
      code: oneOfWords(Object.keys(ERROR_CODES), 'Stable: what programs decide by'),
    }),
  }),
);

/** Bodies of /oauth/* (RFC 6749 5.2): the one exception to the envelope. */
export const OAUTH_ERROR = named(
  'OAuthError',
  object({ error: text('Code of RFC 6749 or RFC 8628') }, { error_description: text() }),
);

export interface ErrorExample {
  value: { error: { message: string; type: string; param: null; code: ErrorCode } };
}

export function exampleOf(code: ErrorCode): ErrorExample {
  return { value: { error: { message: `(${code})`, type: ERROR_CODES[code].type, param: null, code } } };
}

export const deletedObject = (name: string): Schema =>
  object({ id: text(), object: constant(name), deleted: constant(true) });
