/** A sample line as it was read. */
export interface ReadSample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface ReadFamily {
  type: 'counter' | 'gauge' | 'histogram' | 'summary';
  help: string;
  samples: ReadSample[];
}

const FAMILY_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;
const VALUE = /^(?:[+-]?Inf|NaN|[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)$/;
const SUFFIXES = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
} as const;

/**
 * A strict reader of the Prometheus text format 0.0.4, which throws at what a server would take amiss, and at what
 * promtool's linter would: families without help, whose lines are apart, repeated series, counters that do not end in
 * `_total` and others that do, histograms that fall or do not add up.
 */
export function readPrometheusText(text: string): Map<string, ReadFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, ReadFamily>();
  const series = new Set<string>();
  let name = '';
  let help: string | null = null;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('# HELP ')) [name, help] = headOf(line.slice(7));
    else if (line.startsWith('# TYPE ')) {
      const [typed, type] = headOf(line.slice(7));
      if (typed !== name || help === null) throw new Error(`${typed} has no help right before its type`);
      if (families.has(name)) throw new Error(`${name} stands in two places`);
      if (!(type in SUFFIXES)) throw new Error(`${name} has the unknown type ${type}`);
      families.set(name, { type: type as ReadFamily['type'], help, samples: [] });
      help = null;
    } else if (line.startsWith('#')) throw new Error(`a comment of no use: ${line}`);
    else {
      const sample = sampleOf(line);
      const family = families.get(name);
      const suffixes: readonly string[] = family ? SUFFIXES[family.type] : [];
      if (!family || !suffixes.some((suffix) => sample.name === name + suffix)) {
        throw new Error(`a sample outside of its family: ${line}`);
      }
      const key = `${sample.name}${JSON.stringify(Object.entries(sample.labels).sort())}`;
      if (series.has(key)) throw new Error(`the series ${key} is told twice`);
      series.add(key);
      family.samples.push(sample);
    }
  }
  for (const [each, family] of families) checkFamily(each, family);
  return families;
}

function headOf(rest: string): [name: string, text: string] {
  const at = rest.indexOf(' ');
  const name = rest.slice(0, at);
  if (!FAMILY_NAME.test(name)) throw new Error(`no name of a metric: ${rest}`);
  return [name, rest.slice(at + 1)];
}

function sampleOf(line: string): ReadSample {
  const [, name = '', inside = '', text = ''] = SAMPLE.exec(line) ?? [];
  if (name === '' || !VALUE.test(text)) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let rest = inside; rest !== '';) {
    const [whole, label, value] = LABEL.exec(rest) ?? [];
    if (whole === undefined || label === undefined || value === undefined) throw new Error(`no labels: ${line}`);
    if (label in labels) throw new Error(`the label ${label} is given twice: ${line}`);
    labels[label] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: numberOf(text) };
}

function numberOf(text: string): number {
  return /Inf$/.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
}

function checkFamily(name: string, { type, help, samples }: ReadFamily): void {
  if (help.trim() === '') throw new Error(`${name} has no help`);
  if ((type === 'counter') !== name.endsWith('_total')) throw new Error(`${name} is a ${type}: wrong end of its name`);
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} is below 0`);
  if (type === 'histogram') checkHistogram(name, samples);
}

function checkHistogram(name: string, samples: ReadSample[]): void {
  const groups = new Map<string, { buckets: [bound: number, value: number][]; count?: number; sum?: number }>();
  for (const sample of samples) {
    const { le, ...labels } = sample.labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    const group = groups.get(key) ?? { buckets: [] };
    groups.set(key, group);
    if (sample.name.endsWith('_count')) group.count = sample.value;
    else if (sample.name.endsWith('_sum')) group.sum = sample.value;
    else if (le === undefined) throw new Error(`${name} has a bucket without a bound`);
    else group.buckets.push([numberOf(le.replace('+', '')), sample.value]);
  }
  for (const [key, { buckets, count, sum }] of groups) {
    const rises = buckets.every(
      ([bound, value], i) => i === 0 || (bound > buckets[i - 1]![0] && value >= buckets[i - 1]![1]),
    );
    const [last] = buckets.slice(-1);
    if (!rises || last?.[0] !== Infinity || last[1] !== count || sum === undefined) {
      throw new Error(`${name}${key} is no histogram`);
    }
  }
}
