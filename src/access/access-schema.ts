import { constant, listOf, named, nullable, object, text, unixSeconds, type Schema } from '../openapi/index.js';

const CLIENT_FIELDS: Record<string, Schema> = {
  id: text('`cli_…`'),
  object: constant('client'),
  name: text(),
  scopes: listOf(text()),
  token_hint: nullable(text('First and last characters of its token')),
  created_at: unixSeconds('When it was made'),
  last_used_at: nullable(unixSeconds('When its token was last used, to the minute')),
  expires_at: nullable(unixSeconds('When its token ends; null: never')),
  revoked_at: nullable(unixSeconds('When it was revoked')),
};

/** The Client object (WIRE B2). */
export const CLIENT = named('Client', object(CLIENT_FIELDS));

/** A Client with its token, which is shown this once and stored nowhere. */
export const ISSUED_CLIENT = named(
  'IssuedClient',
  object({ ...CLIENT_FIELDS, token: text('`lmsp_…`, shown only here') }),
);
