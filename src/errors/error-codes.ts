/** Error kinds: what went wrong in the domain's words. The HTTP filter maps each to one status (WIRE B9). */
export const ERROR_KINDS = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'conflict',
  'gone',
  'too_large',
  'unsupported_media_type',
  'unprocessable',
  'limited',
  'internal',
  'unavailable',
  'timeout',
  'storage_full',
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

interface ErrorCodeRow {
  kind: ErrorKind;
  /** `error.type` on the wire. */
  type: string;
  /** What `x-should-retry` says; absent: the header is not sent (a 409 always has one). */
  retry?: boolean;
}

const invalid: ErrorCodeRow = { kind: 'invalid', type: 'invalid_request_error' };
const unauthenticated: ErrorCodeRow = { kind: 'unauthenticated', type: 'authentication_error' };
const forbidden: ErrorCodeRow = { kind: 'forbidden', type: 'permission_error' };
const notFound: ErrorCodeRow = { kind: 'not_found', type: 'invalid_request_error' };
const conflict: ErrorCodeRow = { kind: 'conflict', type: 'invalid_request_error', retry: false };
const limited: ErrorCodeRow = { kind: 'limited', type: 'rate_limit_error' };
const model: ErrorCodeRow = { kind: 'internal', type: 'model_error', retry: false };
const unavailable: ErrorCodeRow = { kind: 'unavailable', type: 'server_error' };

/** Every code of WIRE B9 with its kind: the single list that errors, tests and API documentation share. */
export const ERROR_CODES = {
  invalid_value: invalid,
  invalid_type: invalid,
  missing_required_parameter: invalid,
  unsupported_parameter: invalid,
  unsupported_value: invalid,
  invalid_json: invalid,
  context_length_exceeded: invalid,
  previous_response_not_found: invalid,
  item_not_found: invalid,
  background_requires_store: invalid,
  response_not_cancellable: invalid,
  task_not_cancellable: invalid,
  invalid_cursor: invalid,
  invalid_idempotency_key: invalid,
  missing_api_key: unauthenticated,
  invalid_api_key: unauthenticated,
  token_expired: unauthenticated,
  insufficient_scope: forbidden,
  origin_not_allowed: forbidden,
  host_not_allowed: forbidden,
  hub_access_denied: forbidden,
  model_not_found: notFound,
  response_not_found: notFound,
  task_not_found: notFound,
  client_not_found: notFound,
  pairing_not_found: notFound,
  unknown_url: notFound,
  method_not_allowed: { kind: 'method_not_allowed', type: 'invalid_request_error' },
  idempotency_in_progress: { kind: 'conflict', type: 'invalid_request_error', retry: true },
  response_in_progress: conflict,
  model_in_use: conflict,
  model_exists: conflict,
  pull_in_progress: conflict,
  pairing_decided: conflict,
  last_owner: conflict,
  retention_in_progress: conflict,
  idempotency_not_replayable: conflict,
  event_log_expired: { kind: 'gone', type: 'invalid_request_error' },
  request_too_large: { kind: 'too_large', type: 'invalid_request_error' },
  unsupported_media_type: { kind: 'unsupported_media_type', type: 'invalid_request_error' },
  idempotency_key_reused: { kind: 'unprocessable', type: 'invalid_request_error', retry: false },
  queue_full: limited,
  rate_limit_exceeded: limited,
  server_error: { kind: 'internal', type: 'server_error' },
  model_error: model,
  model_load_failed: model,
  model_digest_mismatch: model,
  model_unsupported: model,
  hub_answer_invalid: { kind: 'internal', type: 'server_error', retry: false },
  pull_too_large: { kind: 'too_large', type: 'invalid_request_error' },
  retry_limit_exceeded: { kind: 'internal', type: 'server_error', retry: false },
  recorder_failed: { kind: 'internal', type: 'server_error', retry: false },
  server_restarted: { kind: 'internal', type: 'server_error' },
  server_shutting_down: unavailable,
  service_recovering: unavailable,
  insufficient_resources: unavailable,
  storage_busy: unavailable,
  model_unavailable: unavailable,
  hub_unavailable: unavailable,
  task_timeout: { kind: 'timeout', type: 'server_error' },
  queue_timeout: { kind: 'timeout', type: 'server_error' },
  storage_full: { kind: 'storage_full', type: 'server_error' },
  // Of /oauth alone, in the words of RFC 6749, 7009 and 8628.
  invalid_request: invalid,
  invalid_grant: invalid,
  invalid_scope: invalid,
  unsupported_grant_type: invalid,
  unsupported_token_type: invalid,
  authorization_pending: invalid,
  slow_down: invalid,
  access_denied: invalid,
  expired_token: invalid,
} as const satisfies Record<string, ErrorCodeRow>;

export type ErrorCode = keyof typeof ERROR_CODES;
