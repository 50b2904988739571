import { Injectable, type OnModuleInit } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Notices, type NoticeTypes } from '../../notices/index.js';
import { LabelValues } from './label-values.js';
import type { Heard, MetricRow, MetricRows, Sample } from './metric.js';
import { METRIC_GROUPS, PREFIX } from './metric-table.js';
import { ReadingsTaker, type Readings } from './readings.js';

/** prom-client's own that are gauges and yet end in `_total`. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Counters with closed sets of this size or less are told from the start, so that the first event is a rise. */
const MOST_ZEROS = 32;

type Labels = Record<string, string>;

/** The metrics of the table: fed by notices, gauges read at each scrape, rendered as Prometheus text (OPERATE 3.2). */
@Injectable()
export class Metrics implements OnModuleInit {
  private readonly registry = new Registry();
  private readonly gauges: ((readings: Readings) => void)[] = [];
  /** Scrapes at the same time share one reading. */
  private running: Promise<string> | null = null;

  constructor(
    private readonly notices: Notices,
    private readonly labels: LabelValues,
    private readonly readings: ReadingsTaker,
  ) {}

  onModuleInit(): void {
    for (const rows of Object.values<MetricRows>(METRIC_GROUPS)) {
      for (const [name, row] of Object.entries(rows)) this.add(PREFIX + name, row);
    }
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
  }

  /** `text/plain` in the version of the format that the text is in. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** All metrics as Prometheus text. */
  text(): Promise<string> {
    this.running ??= this.render().finally(() => (this.running = null));
    return this.running;
  }

  private async render(): Promise<string> {
    const readings = await this.readings.take();
    for (const update of this.gauges) update(readings);
    // The format spells it so; prom-client does not.
    return (await this.registry.metrics()).replace(/ Nan$/gm, ' NaN');
  }

  private add(name: string, row: MetricRow): void {
    const { help, labels = {} } = row;
    const options = { name, help, labelNames: Object.keys(labels), registers: [this.registry] };
    switch (row.type) {
      case 'counter': {
        const counter = new Counter(options);
        this.hear(row, row.heard, ({ value, labels }) => counter.inc(labels, value));
        for (const zero of zeros(row)) counter.inc(zero, 0);
        break;
      }
      case 'histogram': {
        const histogram = new Histogram({ ...options, buckets: [...row.buckets] });
        this.hear(row, row.heard, ({ value, labels }) => histogram.observe(labels, value));
        break;
      }
      case 'gauge': {
        const gauge = new Gauge(options);
        const set = ({ value, labels }: Told): void => gauge.set(labels, value);
        this.hear(row, row.heard ?? [], set);
        const { read } = row;
        if (!read) break;
        this.gauges.push((readings) => {
          gauge.reset();
          for (const sample of read(readings)) set(this.told(row, sample));
        });
      }
    }
  }

  private hear(row: MetricRow, heard: readonly Heard[], tell: (told: Told) => void): void {
    for (const { notice, sample } of heard) {
      this.notices.on(notice, (told: NoticeTypes[typeof notice]) => {
        const found = sample(told as never);
        if (found) tell(this.told(row, found));
      });
    }
  }

  /** The sample with its labels kept within their sets. */
  private told({ labels: sets = {} }: MetricRow, { value, labels = {} }: Sample): Told {
    const within = Object.entries(sets).map(([label, set]) => [label, this.labels.within(set, labels[label] ?? '')]);
    return { value, labels: Object.fromEntries(within) as Labels };
  }
}

interface Told {
  value: number;
  labels: Labels;
}

/** Every combination of labels that is known in advance; none where there are too many, or where a set is a registry. */
function zeros({ labels = {} }: MetricRow): Labels[] {
  let combinations: Labels[] = [{}];
  for (const [label, set] of Object.entries(labels)) {
    if (typeof set === 'string' || combinations.length * set.length > MOST_ZEROS) return [];
    combinations = combinations.flatMap((each) => set.map((value) => ({ ...each, [label]: value })));
  }
  return combinations;
}
