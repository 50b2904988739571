import { AUDIT_ACTIONS } from '../audit/index.js';
import { RESTART_POLICIES } from '../config/index.js';
import {
  boolean,
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

/** Body of /health and /ready (OPERATE 5.1). */
export const PROBE = named('Probe', object({ status: text() }, { reason: text('What is the matter') }));

/** ServiceInfo (WIRE B2). */
export const SERVICE_INFO = named(
  'ServiceInfo',
  object({
    object: constant('service'),
    id: text('Of the store: it outlives restarts'),
    name: constant('lmsp-service'),
    version: text(),
    lmsp_version: constant('1.0'),
    started_at: unixSeconds('When this process started'),
    incarnation: integer('Grows when the store is restored from a copy: event numbers may then be used again'),
    degraded: listOf(text(), 'What works less well than it should; empty is fine'),
    features: listOf(text()),
    limits: mapOf(integer()),
    retention: object({
      responses_seconds: integer('0: for ever'),
      tasks_seconds: integer('0: for ever'),
      idempotency_seconds: integer('0: for ever'),
    }),
    on_restart: object({ default: oneOfWords(RESTART_POLICIES), supported: listOf(oneOfWords(RESTART_POLICIES)) }),
  }),
);

const REMOVAL = {
  removed: integer(),
  rows: nullable(integer('Dependent rows as well')),
  batches: nullable(integer('Transactions')),
  failed: boolean('The next run tries again'),
};

/** RetentionObject (OPERATE 5.7). */
export const RETENTION = named(
  'RetentionReport',
  object({
    object: constant('service.retention'),
    running: boolean(),
    held_seconds: integer('Running time for which nothing expires'),
    next_run_at: nullable(unixSeconds('When the next run begins')),
    file: object({ bytes: integer(), free_bytes: integer() }),
    data: listOf(
      object({
        kind: text(),
        rule: object({ keep_seconds: integer('0: for ever'), counts_from: text() }),
        rows: integer(),
        oldest_at: nullable(unixSeconds('Age of the oldest row')),
        due: integer('Rows that may go now'),
        blocked: listOf(object({ reason: text(), rows: integer() })),
        bytes: integer('About'),
        last_run: nullable(object({ finished_at: unixSeconds('Its end'), ...REMOVAL })),
      }),
    ),
  }),
);

export const RETENTION_RUN = named(
  'RetentionRunReport',
  object({
    object: constant('service.retention.run'),
    dry_run: boolean(),
    started_at: unixSeconds('Its begin'),
    finished_at: unixSeconds('Its end'),
    held: boolean('Expiry is held back, so nothing new was due'),
    interrupted: boolean('The service stopped meanwhile; the next start goes on'),
    freed_pages: integer('Given back to the disk'),
    data: listOf(object({ kind: text(), ...REMOVAL })),
  }),
);

/** One line of GET /v1/audit. */
export const AUDIT_EVENT = named(
  'AuditEvent',
  object({
    id: text(),
    object: constant('audit.event'),
    created_at: unixSeconds('When it was done'),
    actor: nullable(text('Id of the client that did it; null where nobody was known')),
    action: oneOfWords(AUDIT_ACTIONS),
    target: nullable(text('Id of what it was done to')),
    outcome: text(),
    count: integer('More than 1 where a flood of the same is told in one line'),
    request_id: nullable(text()),
    address: nullable(text()),
    detail: nullable({ type: 'object' }),
  }),
);
