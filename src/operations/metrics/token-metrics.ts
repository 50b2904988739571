import { FIRST_TOKEN, PER_TOKEN, TOKENS } from './buckets.js';
import { on, seconds, type Heard, type MetricRows } from './metric.js';
import type { NoticeTypes } from '../../notices/index.js';

type Generation = NoticeTypes['generation.ended'];

const model = { model: 'model' } as const;

/** `figure` of each generation; null: it says nothing about the metric. */
function ofGenerations(figure: (generation: Generation) => number | null): Heard[] {
  return [
    on('generation.ended', (generation) => {
      const value = figure(generation);
      return value === null ? null : { value, labels: { model: generation.model } };
    }),
  ];
}

/** Requests that went their way: a cancelled one would say little about how long answers are. */
const finished = ({ outcome }: Generation, figure: number): number | null => (outcome === 'finished' ? figure : null);

export const TOKEN_METRICS = {
  prompt_tokens_total: {
    type: 'counter',
    help: 'Tokens of prompts that were taken in.',
    labels: model,
    heard: ofGenerations(({ prompt_tokens: tokens }) => tokens),
  },
  prompt_tokens_cached_total: {
    type: 'counter',
    help: 'Of them those that an earlier prompt had left in the cache.',
    labels: model,
    heard: ofGenerations(({ cached_tokens: tokens }) => tokens),
  },
  prefix_cache_hits_total: {
    type: 'counter',
    help: 'Requests that found the beginning of their prompt in the cache.',
    labels: model,
    heard: ofGenerations(({ cached_tokens: tokens }) => (tokens > 0 ? 1 : 0)),
  },
  output_tokens_total: {
    type: 'counter',
    help: 'Tokens that were generated.',
    labels: model,
    heard: ofGenerations(({ output_tokens: tokens }) => tokens),
  },
  replayed_tokens_total: {
    type: 'counter',
    help: 'Tokens of interrupted generations that were taken in again to go on behind them.',
    labels: model,
    heard: ofGenerations(({ replayed_tokens: tokens }) => tokens),
  },
  time_to_first_token_seconds: {
    type: 'histogram',
    help: 'From the claim of a request, a load included, to its first token; the wait before it is task_queue_seconds.',
    labels: model,
    buckets: FIRST_TOKEN,
    heard: [on('generation.ended', ({ model: name, first_token_ms: first }) => seconds(first, { model: name }))],
  },
  time_per_output_token_seconds: {
    type: 'histogram',
    help: 'Mean time of one request between two tokens.',
    labels: model,
    buckets: PER_TOKEN,
    heard: ofGenerations(({ output_tokens: tokens, decode_ms: duration }) =>
      tokens > 1 ? duration / (tokens - 1) / 1000 : null,
    ),
  },
  request_prompt_tokens: {
    type: 'histogram',
    help: 'Tokens in the prompt of one request that came to its end.',
    labels: model,
    buckets: TOKENS,
    heard: ofGenerations((generation) => finished(generation, generation.prompt_tokens)),
  },
  request_output_tokens: {
    type: 'histogram',
    help: 'Tokens in the answer to one request that came to its end.',
    labels: model,
    buckets: TOKENS,
    heard: ofGenerations((generation) => finished(generation, generation.output_tokens)),
  },
} satisfies MetricRows;
