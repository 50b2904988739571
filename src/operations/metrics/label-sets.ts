import { UNIT_KINDS } from '../../database/index.js';
import { ERROR_CODES, STATUS_OF_KIND, type ErrorCode } from '../../errors/index.js';
import { STREAM_KINDS } from '../../http/index.js';
import {
  ON_RESTART_POLICIES,
  RECORDER_OUTCOMES,
  TERMINAL_STATUSES,
  UNFINISHED_STATUSES,
  UNUSABLE_SNAPSHOTS,
} from '../../tasks/index.js';

/**
 * Sets that are known only once the service runs: its versions, kinds of data that expire, models, task types and the
 * patterns of its router.
 */
export type Registry = 'build' | 'kind' | 'model' | 'route' | 'type';

/** What a label may say: words of a list, or names of a registry. Anything else becomes `other`. */
export type LabelSet = readonly string[] | Registry;

/** The value of a label that has nothing to say. */
export const NONE = 'none';

export const METHODS: LabelSet = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Statuses that the service sends (WIRE B2, B9); 0: the client left before an answer began. */
export const HTTP_STATUSES: LabelSet = [
  ...new Set([0, 200, 201, 202, 204, ...Object.values(STATUS_OF_KIND)].map(String)),
];

export const STREAMS: LabelSet = STREAM_KINDS;
export const MODES: LabelSet = ['background', 'foreground'];
export const UNFINISHED: LabelSet = UNFINISHED_STATUSES;
export const ENDS: LabelSet = TERMINAL_STATUSES;
export const POLICIES: LabelSet = ON_RESTART_POLICIES;
export const RECOVERIES: LabelSet = ['failed', 'requeued', 'resumed', 'cancelled'];
export const MODEL_STATES = ['verifying', 'available', 'loading', 'loaded', 'missing', 'error'] as const;
export const UNLOADS: LabelSet = ['requested', 'idle', 'budget'];
export const LOSSES: LabelSet = ['ended', 'stalled'];
export const UNITS: LabelSet = UNIT_KINDS;
export const FILES: LabelSet = ['main', 'wal'];
export const VOLUMES: LabelSet = ['data'];
export const SNAPSHOT_FAULTS: LabelSet = UNUSABLE_SNAPSHOTS;
export const RECORDINGS: LabelSet = RECORDER_OUTCOMES;
export const UNHEARD: LabelSet = ['failed', 'dropped'];
export const REPEATS = ['replayed', 'in_progress', 'reused', 'not_replayable'] as const;
export const CODES: LabelSet = [NONE, ...Object.keys(ERROR_CODES)];

/** Refusals that are about who asks (WIRE B9, 401 and 403). */
export const AUTH_FAILURES = [
  'missing_api_key',
  'invalid_api_key',
  'token_expired',
  'rate_limit_exceeded',
  'insufficient_scope',
  'origin_not_allowed',
  'host_not_allowed',
] as const satisfies readonly ErrorCode[];

/** Answers to requests that were right, but could not be served at the time. */
export const REJECTIONS = [
  'queue_full',
  'rate_limit_exceeded',
  'storage_busy',
  'storage_full',
  'model_unavailable',
  'insufficient_resources',
  'service_recovering',
  'server_shutting_down',
] as const satisfies readonly ErrorCode[];
