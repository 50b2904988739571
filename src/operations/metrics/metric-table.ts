import { HTTP_METRICS } from './http-metrics.js';
import { ENGINE_METRICS } from './engine-metrics.js';
import type { MetricRows } from './metric.js';
import { SERVICE_METRICS } from './service-metrics.js';
import { STORE_METRICS } from './store-metrics.js';
import { TASK_METRICS } from './task-metrics.js';
import { TOKEN_METRICS } from './token-metrics.js';

/** Begins the name of every metric of ours. */
export const PREFIX = 'lmsp_';

/** Every metric by the group it stands in (OPERATE 3.2). A new one is a row of its group, and nothing else. */
export const METRIC_GROUPS = {
  service: SERVICE_METRICS,
  http: HTTP_METRICS,
  tasks: TASK_METRICS,
  tokens: TOKEN_METRICS,
  engine: ENGINE_METRICS,
  store: STORE_METRICS,
} as const satisfies Record<string, MetricRows>;
