import { describe, expect, it } from 'vitest';
import { readPrometheusText } from './prometheus-text.js';

const head = (name: string, type: string) => `# HELP ${name} What it is.\n# TYPE ${name} ${type}\n`;

describe('the reader of Prometheus text that tests use', () => {
  it('reads names, labels with escapes, and values', () => {
    const text = `${head('a_total', 'counter')}a_total{x="1,\\"\\\\\\n}",y=""} 3\na_total 4.5e-3\n`;
    expect(readPrometheusText(text).get('a_total')).toEqual({
      type: 'counter',
      help: 'What it is.',
      samples: [
        { name: 'a_total', labels: { x: '1,"\\\n}', y: '' }, value: 3 },
        { name: 'a_total', labels: {}, value: 0.0045 },
      ],
    });
  });

  it.each([
    ['a quoted JSON string (llama.cpp#17384)', JSON.stringify(`${head('a', 'gauge')}a 1\n`)],
    ['text without its last line end', `${head('a', 'gauge')}a 1`],
    ['a family without help', '# TYPE a gauge\na 1\n'],
    ['a sample without a family', 'a 1\n'],
    ['a family in two places', `${head('a', 'gauge')}a 1\n${head('a', 'gauge')}a{x="1"} 1\n`],
    ['a series that is told twice', `${head('a', 'gauge')}a{x="1"} 1\na{x="1"} 2\n`],
    ['a raw quote in a label', `${head('a', 'gauge')}a{x="1"2"} 1\n`],
    ['a value that is no number', `${head('a', 'gauge')}a undefined\n`],
    ['a counter that does not say so', `${head('a', 'counter')}a 1\n`],
    ['a gauge that looks like a counter', `${head('a_total', 'gauge')}a_total 1\n`],
    [
      'a histogram that falls',
      `${head('a', 'histogram')}a_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n`,
    ],
    ['a histogram without its end', `${head('a', 'histogram')}a_bucket{le="1"} 2\na_sum 1\na_count 2\n`],
  ])('refuses %s', (_, text) => {
    expect(() => readPrometheusText(text)).toThrow();
  });
});
