import {
  anything,
  constant,
  integer,
  listOf,
  mapOf,
  named,
  nullable,
  object,
  oneOfWords,
  text,
  unixSeconds,
} from '../openapi/index.js';

export const PAIRING = named(
  'Pairing',
  object({
    id: text('`pair_…`'),
    object: constant('pairing'),
    user_code: nullable(text('Null where the service was restarted since the program asked')),
    client_name: text('What it calls itself'),
    software: text('Its `client_id`'),
    scopes: listOf(text(), 'Asked for, then granted'),
    meanings: mapOf(text(), 'What those of the scopes that extensions add let it do'),
    status: oneOfWords(['pending', 'approved', 'denied', 'consumed']),
    address: text('Where it asked from'),
    token_expires_in: nullable(integer('Seconds that its token will be good for; null: until it is revoked')),
    client_id: nullable(text('The client it became')),
    created_at: unixSeconds('When it asked'),
    expires_at: unixSeconds('When its codes end'),
  }),
);

export const DEVICE_AUTHORIZATION = named(
  'DeviceCodes',
  object({
    device_code: text('For polling, shown to nobody'),
    user_code: text('For the owner: `XXXX-XXXX`'),
    verification_uri: text(),
    verification_uri_complete: text(),
    expires_in: integer('Seconds'),
    interval: integer('Least seconds between two polls'),
  }),
);

export const TOKEN_GRANT = named(
  'TokenGrant',
  object(
    {
      access_token: text('`lmsp_…`, shown only here'),
      token_type: constant('Bearer'),
      scope: text('Scopes with spaces between them'),
      client_id: text('`cli_…`'),
    },
    { expires_in: integer('Seconds; absent: until it is revoked') },
  ),
);

export const NOTHING = object({});

export const SERVER_METADATA = named(
  'AuthorizationServerMetadata',
  object({
    issuer: text(),
    device_authorization_endpoint: text(),
    token_endpoint: text(),
    revocation_endpoint: text(),
    scopes_supported: listOf(text()),
    response_types_supported: listOf(anything('None')),
    grant_types_supported: listOf(text()),
    token_endpoint_auth_methods_supported: listOf(text()),
    revocation_endpoint_auth_methods_supported: listOf(text()),
  }),
);
