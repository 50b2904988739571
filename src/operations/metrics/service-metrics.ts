import type { MetricRows } from './metric.js';

export const SERVICE_METRICS = {
  ready: {
    type: 'gauge',
    help: '1 while the service takes work, as /ready says; else 0.',
    read: ({ service }) => [{ value: service.ready ? 1 : 0 }],
  },
  build_info: {
    type: 'gauge',
    help: 'Always 1; its labels say what runs.',
    labels: { version: 'build', node: 'build', engine: 'build' },
    read: ({ service }) => [{ value: 1, labels: service.build }],
  },
} satisfies MetricRows;
