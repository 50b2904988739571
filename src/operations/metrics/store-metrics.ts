import { BATCHES, STORE } from './buckets.js';
import { FILES, UNITS, VOLUMES } from './label-sets.js';
import { on, seconds, type MetricRows } from './metric.js';

export const STORE_METRICS = {
  events_appended_total: {
    type: 'counter',
    help: 'Events written to the logs of tasks.',
    heard: [
      on('step.stored', ({ events }) => ({ value: events })),
      on('task.transition', ({ events }) => ({ value: events })),
    ],
  },
  event_append_seconds: {
    type: 'histogram',
    help: 'From the moment that a step of a running task is handed over to its being on disk.',
    buckets: STORE,
    heard: [on('step.stored', ({ duration_ms: duration }) => seconds(duration))],
  },
  db_commit_duration_seconds: {
    type: 'histogram',
    help: 'The COMMIT of a transaction: the wait for the disk.',
    labels: { kind: UNITS },
    buckets: STORE,
    heard: [on('unit.committed', ({ kind, duration_ms: duration }) => seconds(duration, { kind }))],
  },
  db_batch_operations: {
    type: 'histogram',
    help: 'Inputs that shared one transaction, where those that come together do.',
    labels: { kind: UNITS },
    buckets: BATCHES,
    heard: [
      on('unit.committed', ({ kind, operations }) =>
        operations === null ? null : { value: operations, labels: { kind } },
      ),
    ],
  },
  retention_deleted_total: {
    type: 'counter',
    help: 'Objects that retention has removed.',
    labels: { kind: 'kind' },
    heard: [on('retention.removed', ({ kind, removed }) => ({ value: removed, labels: { kind } }))],
  },
  retention_last_success_timestamp_seconds: {
    type: 'gauge',
    help: 'End of the last run of retention that did all it had to; 0: none since the start.',
    heard: [
      on('retention.finished', ({ interrupted, failed_kinds: failed }) =>
        interrupted || failed > 0 ? null : { value: Date.now() / 1000 },
      ),
    ],
  },
  db_write_queue: {
    type: 'gauge',
    help: 'Transactions that wait or are open.',
    read: ({ store }) => [{ value: store.writeQueue }],
  },
  db_size_bytes: {
    type: 'gauge',
    help: 'Size of the database files.',
    labels: { file: FILES },
    read: ({ store: { sizes } }) => [
      { value: sizes.main, labels: { file: 'main' } },
      { value: sizes.wal, labels: { file: 'wal' } },
    ],
  },
  db_free_bytes: {
    type: 'gauge',
    help: 'Room inside the main file: what was deleted and not given back.',
    read: ({ store }) => [{ value: store.sizes.free }],
  },
  disk_free_bytes: {
    type: 'gauge',
    help: 'Free space that the service may use; absent where it cannot be asked.',
    labels: { volume: VOLUMES },
    read: ({ store: { diskFree } }) => (diskFree === null ? [] : [{ value: diskFree, labels: { volume: 'data' } }]),
  },
} satisfies MetricRows;
