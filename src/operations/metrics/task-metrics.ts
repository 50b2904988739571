import { QUEUE } from './buckets.js';
import { CODES, ENDS, MODES, NONE, POLICIES, RECOVERIES, REJECTIONS, UNFINISHED } from './label-sets.js';
import { count, on, seconds, type MetricRows } from './metric.js';

const RECOVERED: Readonly<Record<string, string>> = {
  recoverFail: 'failed',
  recoverRetry: 'requeued',
  recoverResume: 'resumed',
  recoverCancel: 'cancelled',
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
  recovery_duration_seconds: {
    type: 'gauge',
    help: 'How long the recovery of this start took.',
    heard: [on('recovery.finished', ({ duration_ms: duration }) => seconds(duration))],
  },
} satisfies MetricRows;
