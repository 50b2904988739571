import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import { DomainError } from '../errors/index.js';

/** Strangers may send these bodies: they are short. */
export const OAUTH_BODY_BYTES = 16_384;

export const OAUTH_BODY = Symbol('OAuthBody');

/** The routes take a short body, a form as RFC 6749 has it or JSON (WIRE B0). */
export const OAuthBody = (): CustomDecorator<symbol> => SetMetadata(OAUTH_BODY, true);

/** The fields of a form. A field that is given twice is refused (RFC 6749 3.2). */
export function parseForm(bytes: Buffer): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
    if (fields.has(name)) throw new DomainError('invalid_request', 'A parameter was given twice.');
    // An empty one counts as left out.
    if (value !== '') fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
