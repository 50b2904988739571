import type { ErrorCode } from '../../errors/index.js';
import { QUEUE } from './buckets.js';
import {
  CODES,
  ENDS,
  MODES,
  NONE,
  POLICIES,
  RECORDINGS,
  RECOVERIES,
  REJECTIONS,
  REPEATS,
  SNAPSHOT_FAULTS,
  UNFINISHED,
  UNHEARD,
} from './label-sets.js';
import { count, on, seconds, type MetricRows } from './metric.js';

const RECOVERED: Readonly<Record<string, string>> = {
  recoverFail: 'failed',
  recoverRetry: 'requeued',
  recoverResume: 'resumed',
  recoverCancel: 'cancelled',
};

const REPEAT_CODES: Readonly<Record<(typeof REPEATS)[number], ErrorCode | null>> = {
  replayed: null,
  in_progress: 'idempotency_in_progress',
  reused: 'idempotency_key_reused',
  not_replayable: 'idempotency_not_replayable',
};

export const TASK_METRICS = {
  tasks_accepted_total: {
    type: 'counter',
    help: 'Tasks accepted: on disk, with a promise to whoever sent them.',
    labels: { type: 'type', model: 'model', mode: MODES },
    heard: [
      count('task.transition', ({ type, model, background, command }) => {
        const mode = background ? 'background' : 'foreground';
        return command === 'enqueue' ? { type, model: model ?? NONE, mode } : null;
      }),
    ],
  },
  tasks_finished_total: {
    type: 'counter',
    help: 'Tasks that have ended.',
    labels: { type: 'type', model: 'model', status: ENDS, error_code: CODES },
    heard: [
      count('task.transition', ({ type, model, to, error_code: code, duration_ms: duration }) =>
        duration === null ? null : { type, model: model ?? NONE, status: to, error_code: code ?? NONE },
      ),
    ],
  },
  requests_rejected_total: {
    type: 'counter',
    help: 'Requests that were right but could not be served at the time, by the code of the answer.',
    labels: { reason: REJECTIONS },
    heard: [
      count('http.request', ({ error_code: code }) => {
        const reason = REJECTIONS.find((each) => each === code);
        return reason ? { reason } : null;
      }),
    ],
  },
  idempotent_replays_total: {
    type: 'counter',
    help: 'Requests with an Idempotency-Key that was known already, by what they were told.',
    labels: { result: REPEATS },
    heard: [
      count('http.request', ({ error_code: code, replayed }) => {
        const result = replayed ? 'replayed' : REPEATS.find((each) => code !== null && code === REPEAT_CODES[each]);
        return result ? { result } : null;
      }),
    ],
  },
  task_queue_seconds: {
    type: 'histogram',
    help: 'From the accept of a task to its first claim.',
    labels: { model: 'model' },
    buckets: QUEUE,
    heard: [on('task.transition', ({ model, waited_ms: waited }) => seconds(waited, { model: model ?? NONE }))],
  },
  task_duration_seconds: {
    type: 'histogram',
    help: 'From the accept of a task to its end.',
    labels: { model: 'model', status: ENDS },
    buckets: QUEUE,
    heard: [
      on('task.transition', ({ model, to, duration_ms: duration }) =>
        seconds(duration, { model: model ?? NONE, status: to }),
      ),
    ],
  },
  tasks: {
    type: 'gauge',
    help: 'Unfinished tasks on disk.',
    labels: { status: UNFINISHED },
    read: ({ tasks }) => Object.entries(tasks.byStatus).map(([status, value]) => ({ value, labels: { status } })),
  },
  queue_oldest_age_seconds: {
    type: 'gauge',
    help: 'Age of the task that stands first in the queue of a model; absent while none waits.',
    labels: { model: 'model' },
    read: ({ tasks }) =>
      tasks.oldest.map(({ model, ageMs }) => ({ value: ageMs / 1000, labels: { model: model ?? NONE } })),
  },
  tasks_recovered_total: {
    type: 'counter',
    help: 'Tasks that a start found unfinished and changed, by their restart policy and what became of them.',
    labels: { policy: POLICIES, outcome: RECOVERIES },
    heard: [
      count('task.transition', ({ on_restart: policy, command }) => {
        const outcome = RECOVERED[command];
        return outcome === undefined ? null : { policy, outcome };
      }),
    ],
  },
  snapshots_unusable_total: {
    type: 'counter',
    help: 'Interrupted tasks that could not be gone on with and began anew, by the reason.',
    labels: { reason: SNAPSHOT_FAULTS },
    heard: [count('task.snapshot_unusable', ({ reason }) => ({ reason }))],
  },
  recorder_failures_total: {
    type: 'counter',
    help: 'Failures of the recorders of extensions, by what followed: tried again, the change written without it, a create refused, a task failed.',
    labels: { outcome: RECORDINGS },
    heard: [count('recorder.failed', ({ outcome }) => ({ outcome }))],
  },
  listener_failures_total: {
    type: 'counter',
    help: 'Changes of tasks that a listener of an extension failed at, or was too slow to be told.',
    labels: { reason: UNHEARD },
    heard: [
      count('listener.call_failed', () => ({ reason: 'failed' })),
      count('listener.dropped', () => ({ reason: 'dropped' })),
    ],
  },
  recovery_duration_seconds: {
    type: 'gauge',
    help: 'How long the recovery of this start took.',
    heard: [on('recovery.finished', ({ duration_ms: duration }) => seconds(duration))],
  },
} satisfies MetricRows;
