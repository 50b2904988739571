import { DURATIONS } from './buckets.js';
import { AUTH_FAILURES, HTTP_STATUSES, METHODS, STREAMS } from './label-sets.js';
import { count, on, seconds, type MetricRows } from './metric.js';

export const HTTP_METRICS = {
  http_requests_total: {
    type: 'counter',
    help: 'Requests answered; status 0: the client left before an answer began.',
    labels: { method: METHODS, route: 'route', status: HTTP_STATUSES },
    heard: [count('http.request', ({ method, route, status }) => ({ method, route, status: String(status) }))],
  },
  http_request_duration_seconds: {
    type: 'histogram',
    help: 'From the head of a request to the end of its answer, event streams left out.',
    labels: { method: METHODS, route: 'route' },
    buckets: DURATIONS,
    heard: [
      on('http.request', ({ method, route, duration_ms: duration, stream }) =>
        seconds(stream ? null : duration, { method, route }),
      ),
    ],
  },
  auth_failures_total: {
    type: 'counter',
    help: 'Requests refused because of who sent them.',
    labels: { reason: AUTH_FAILURES },
    heard: [
      count('http.request', ({ error_code: code, client_id: client }) => {
        // The limit of a client that is known says nothing about who it is.
        if (code === 'rate_limit_exceeded' && client !== null) return null;
        const reason = AUTH_FAILURES.find((each) => each === code);
        return reason ? { reason } : null;
      }),
    ],
  },
  http_streams: {
    type: 'gauge',
    help: 'Event streams that are open.',
    labels: { kind: STREAMS },
    read: ({ service }) => Object.entries(service.streams).map(([kind, value]) => ({ value, labels: { kind } })),
  },
} satisfies MetricRows;
