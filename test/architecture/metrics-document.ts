import { METRIC_GROUPS, PREFIX } from '../../src/operations/metrics/metric-table.js';
import type { MetricRow, MetricRows } from '../../src/operations/metrics/metric.js';

const TITLES: Record<keyof typeof METRIC_GROUPS, string> = {
  service: 'Service',
  http: 'HTTP',
  tasks: 'Tasks',
  tokens: 'Tokens',
  engine: 'Models and their processes',
  store: 'Store',
};

const REGISTRIES = {
  build: 'a fact of the build',
  kind: 'a kind of data that expires',
  model: 'a registered model, or `none`',
  route: 'a route pattern, or `unmatched`',
  type: 'a task type',
};

/** Sets that are longer are described by their number of words. */
const MOST_WORDS = 8;

function labelsOf({ labels = {} }: MetricRow): string {
  const described = Object.entries(labels).map(([label, set]) => {
    if (typeof set === 'string') return `\`${label}\`: ${REGISTRIES[set]}`;
    const words = set.length > MOST_WORDS ? `one of ${set.length}, as docs/http-api.md has them` : set.join(', ');
    return `\`${label}\`: ${words}`;
  });
  return described.join('; ') || '–';
}

function sourceOf(row: MetricRow): string {
  const heard = [...new Set((row.heard ?? []).map(({ notice }) => `\`${notice}\``))];
  return heard.join(', ') || 'read at the scrape';
}

function tableOf(rows: MetricRows): string {
  const lines = Object.entries(rows).map(
    ([name, row]) => `| \`${PREFIX}${name}\` | ${row.type} | ${row.help} | ${labelsOf(row)} | ${sourceOf(row)} |`,
  );
  return ['| metric | type | what it says | labels | source |', '| --- | --- | --- | --- | --- |', ...lines].join('\n');
}

/** The text of docs/metrics.md. */
export function renderMetrics(): string {
  const groups = Object.entries(METRIC_GROUPS).map(
    ([group, rows]) => `## ${TITLES[group as keyof typeof TITLES]}\n\n${tableOf(rows)}`,
  );
  return `# Metrics

Generated from \`src/operations/metrics\`; do not edit. \`GET /metrics\` answers in the Prometheus text format to a token
with the scope \`service:read\` (\`credentials_file\` in Prometheus). \`LMSP_METRICS_PORT\` opens a second listener on
loopback for scrapers that cannot send one. Times are seconds, sizes bytes.

A label says only what is in its set; anything else is \`other\`. No label names a client, a task or a raw path, so the
number of series does not grow with use. A counter begins at 0 with the process.

${groups.join('\n\n')}

## Process

The defaults of prom-client: \`process_*\` (CPU, memory, file descriptors, start time) and \`nodejs_*\` (event-loop delay as
\`nodejs_eventloop_lag_*_seconds\`, heap, garbage collection, version).
`;
}
