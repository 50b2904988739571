import type { NoticeName, NoticeTypes } from '../../notices/index.js';
import type { LabelSet } from './label-sets.js';
import type { Readings } from './readings.js';

/** One value of a metric, with its labels. */
export interface Sample {
  value: number;
  labels?: Readonly<Record<string, string>>;
}

/** A notice and what it adds: to a counter the value, to a histogram the observation; a gauge becomes it. */
export interface Heard {
  readonly notice: NoticeName;
  readonly sample: (notice: never) => Sample | null;
}

interface Row {
  /** What it counts or measures, with its unit; one sentence for operators. */
  readonly help: string;
  /** Label → the closed set of its values; what is not in the set becomes `other` (OPERATE 3.2). */
  readonly labels?: Readonly<Record<string, LabelSet>>;
}

/** Only grows; its name ends in `_total`. */
export interface CounterRow extends Row {
  readonly type: 'counter';
  readonly heard: readonly Heard[];
}

export interface HistogramRow extends Row {
  readonly type: 'histogram';
  readonly buckets: readonly number[];
  readonly heard: readonly Heard[];
}

/** Told by a notice, or read at each scrape. */
export interface GaugeRow extends Row {
  readonly type: 'gauge';
  readonly heard?: readonly Heard[];
  readonly read?: (readings: Readings) => Sample[];
}

export type MetricRow = CounterRow | HistogramRow | GaugeRow;

/** Name without the prefix → row. */
export type MetricRows = Readonly<Record<string, MetricRow>>;

/** `sample` answers null for a notice that says nothing about the metric. */
export function on<N extends NoticeName>(notice: N, sample: (notice: NoticeTypes[N]) => Sample | null): Heard {
  return { notice, sample };
}

/** One more for each notice; null: it does not count. */
export function count<N extends NoticeName>(
  notice: N,
  labels: (notice: NoticeTypes[N]) => Record<string, string> | null,
): Heard {
  return on(notice, (told) => {
    const found = labels(told);
    return found && { value: 1, labels: found };
  });
}

/** Seconds out of the milliseconds of notices; null stays null. */
export function seconds(milliseconds: number | null, labels: Record<string, string> = {}): Sample | null {
  return milliseconds === null ? null : { value: milliseconds / 1000, labels };
}
