// Alternating rounds of measurements, ratios within a round, their medians: what a noisy machine leaves comparable.
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { VERSIONS } from './install.mjs';

/** Of the service, its peers and their threads alike. */
export const THREADS = 2;

/** SmolLM2-135M-Instruct with 4-bit weights. */
export function smollm2() {
  const models = process.env.LMSP_TEST_MODELS;
  if (!models) throw new Error('LMSP_TEST_MODELS names no folder of real models');
  return join(models, 'smollm2-135m-instruct');
}

/** Tokens a second between the first and the last one. */
export const decodeRate = ({ first, last, tokens }) => ((tokens - 1) / (last - first)) * 1000;

/** Sum over streams that run at once. */
export const sumOfRates = (streams) => streams.reduce((sum, stream) => sum + decodeRate(stream), 0);

/** Prompt tokens a second until the first token of the answer. */
export const prefillRate = ({ asked, first }, promptTokens) => (promptTokens / (first - asked)) * 1000;

/**
 * `contenders`: name → measurement of one figure (higher is better). Each round runs all of them, starting with another
 * one each time. `ratios`: [name, numerator, denominator, at least, aim].
 */
export async function compare(rounds, contenders, ratios) {
  const names = Object.keys(contenders);
  const found = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length];
      found[name].push(await contenders[name]());
    }
  }
  const figures = Object.fromEntries(names.map((name) => [name, round2(median(found[name]))]));
  const table = ratios.map(([name, over, under, least, aim]) => {
    const each = found[over].map((value, round) => value / found[under][round]);
    const ratio = round2(median(each));
    return { name, ours: figures[over], other: figures[under], ratio, rounds: each.map(round2).join(' '), least, aim };
  });
  return { figures, table };
}

/** Prints the table of all comparisons; resolves with what the last line says. */
export function told(comparisons) {
  const rows = comparisons.flatMap(({ table }) => table);
  console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));
  return {
    ratios: Object.fromEntries(rows.map(({ name, ratio }) => [name, ratio])),
    missed: rows.filter(({ ratio, least }) => ratio < least).map(({ name }) => name),
    figures: Object.assign({}, ...comparisons.map(({ figures }) => figures)),
    machine: {
      processor: cpus()[0].model,
      cores: availableParallelism(),
      threads: THREADS,
      load_average: round2(loadavg()[0]),
    },
    versions: VERSIONS,
  };
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

function round2(value) {
  return Math.round(value * 100) / 100;
}
