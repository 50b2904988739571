// Alternating rounds of measurements, ratios within a round, their medians: what a noisy machine leaves comparable.
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { OPTIONAL_VERSIONS, VERSIONS } from './install.mjs';

/** Of the service, its peers and their threads alike. */
export const THREADS = 2;

/** SmolLM2-135M-Instruct with 4-bit weights. */
export function smollm2() {
  const models = process.env.LMSP_TEST_MODELS;
  if (!models) throw new Error('LMSP_TEST_MODELS names no folder of real models');
  return join(models, 'smollm2-135m-instruct');
}

/** Tokens a second between the first and the last one. */
export const decodeRate = ({ times, tokens }) => ((tokens - 1) / (times.at(-1) - times[0])) * 1000;

/**
 * Tokens a second of all streams while all of them answer: from the last one's first token to the first one's last. A
 * piece of text may be more than one token. NaN if there is no moment when all of them answer.
 */
export function rateTogether(streams) {
  const from = Math.max(...streams.map(({ times }) => times[0]));
  const to = Math.min(...streams.map(({ times }) => times.at(-1)));
  if (to <= from) return NaN;
  const share = ({ times }) => times.filter((time) => time > from && time <= to).length / times.length;
  return (streams.reduce((sum, stream) => sum + stream.tokens * share(stream), 0) / (to - from)) * 1000;
}

/** Tokens a second of streams that were asked for at once, from the asking to the last token of all: prompts are in it. */
export function rateOfAll(streams) {
  const from = Math.min(...streams.map(({ asked }) => asked));
  const to = Math.max(...streams.map(({ times }) => times.at(-1)));
  return (streams.reduce((sum, { tokens }) => sum + tokens, 0) / (to - from)) * 1000;
}

/** Prompt tokens a second until the first token of the answer. */
export const prefillRate = ({ asked, times }, promptTokens) => (promptTokens / (times[0] - asked)) * 1000;

/** Waits until nothing else keeps the processor busy, for a while: what is compared does nothing between measurements. */
async function idleMachine() {
  for (let tries = 0; tries < 40; tries++) {
    const before = spent();
    await delay(250);
    const after = spent();
    if (after.busy - before.busy < 0.1 * (after.all - before.all)) return;
  }
}

function spent() {
  const each = cpus();
  const all = each.map(({ times }) => Object.values(times).reduce((sum, value) => sum + value));
  const idle = each.map(({ times }) => times.idle);
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  return { all: sum(all), busy: sum(all) - sum(idle) };
}

/**
 * `contenders`: name → measurement of one figure (higher is better). Each round runs all of them, starting with another
 * one each time; a figure that is NaN does not count. `ratios`: [name, numerator, denominator, at least, aim], the last two where there are such.
 */
export async function compare(rounds, contenders, ratios) {
  const names = Object.keys(contenders);
  const found = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length];
      await idleMachine();
      found[name].push(await contenders[name]());
    }
  }
  const figures = Object.fromEntries(names.map((name) => [name, round2(median(found[name]))]));
  const table = ratios.map(([name, over, under, least, aim]) => {
    const each = found[over].map((value, round) => value / found[under][round]);
    const ratio = round2(median(each));
    const row = { name, ours: figures[over], other: figures[under], ratio, rounds: each.map(round2).join(' ') };
    return least === undefined ? row : { ...row, least, aim };
  });
  return { figures, table };
}

/** Prints the table of all comparisons; resolves with what the last line says. `leftOut`: peer → reason. */
export function told(comparisons, leftOut = {}) {
  const rows = comparisons.flatMap(({ table }) => table);
  console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));
  return {
    ratios: Object.fromEntries(rows.map(({ name, ratio }) => [name, ratio])),
    missed: rows.filter(({ ratio, least }) => ratio < least).map(({ name }) => name),
    left_out: leftOut,
    figures: Object.assign({}, ...comparisons.map(({ figures }) => figures)),
    machine: {
      processor: cpus()[0].model,
      cores: availableParallelism(),
      threads: THREADS,
      load_average: round2(loadavg()[0]),
    },
    versions: Object.assign({}, VERSIONS, ...Object.values(OPTIONAL_VERSIONS)),
  };
}

export function median(values) {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

function round2(value) {
  return Math.round(value * 100) / 100;
}
