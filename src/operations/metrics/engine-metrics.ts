import type { EngineActivity } from '../../inference/index.js';
import { DURATIONS } from './buckets.js';
import { LOSSES, MODEL_STATES, UNLOADS } from './label-sets.js';
import { count, on, seconds, type MetricRows, type Sample } from './metric.js';
import type { Readings } from './readings.js';

const model = { model: 'model' } as const;

/** `figure` of each loaded model. */
function ofLoaded(figure: (activity: EngineActivity) => number): (readings: Readings) => Sample[] {
  return ({ engine }) =>
    engine.loaded.map(({ modelId, activity }) => ({ value: figure(activity), labels: { model: modelId } }));
}

export const ENGINE_METRICS = {
  models: {
    type: 'gauge',
    help: 'Registered models.',
    labels: { state: MODEL_STATES },
    read: ({ engine }) => MODEL_STATES.map((state) => ({ value: engine.models[state] ?? 0, labels: { state } })),
  },
  model_load_duration_seconds: {
    type: 'histogram',
    help: 'Loads that succeeded, the check of the files included.',
    labels: model,
    buckets: DURATIONS,
    heard: [on('model.loaded', ({ model: name, duration_ms: duration }) => seconds(duration, { model: name }))],
  },
  model_unloads_total: {
    type: 'counter',
    help: 'Models that were unloaded.',
    labels: { ...model, reason: UNLOADS },
    heard: [count('model.unloaded', ({ model: name, reason }) => ({ model: name, reason }))],
  },
  model_memory_budget_bytes: {
    type: 'gauge',
    help: 'Memory that all loaded models may take together.',
    read: ({ engine }) => [{ value: engine.memory.budget }],
  },
  model_memory_reserved_bytes: {
    type: 'gauge',
    help: 'Memory that is counted for the models that are loaded or loading.',
    read: ({ engine }) => [{ value: engine.memory.reserved }],
  },
  pull_received_bytes_total: {
    type: 'counter',
    help: 'Bytes of models that came from the hub, those included that had to come again.',
    heard: [on('pull.received', ({ bytes }) => ({ value: bytes }))],
  },
  runner_restarts_total: {
    type: 'counter',
    help: 'Model processes that died (ended) or were ended for making no progress (stalled); the next request starts one.',
    labels: { ...model, reason: LOSSES },
    heard: [count('runner.lost', ({ model: name, cause }) => ({ model: name, reason: cause }))],
  },
  batch_size: {
    type: 'gauge',
    help: 'Sequences that are being worked on together.',
    labels: model,
    read: ofLoaded(({ rows }) => rows),
  },
  kv_tokens: {
    type: 'gauge',
    help: 'Tokens that the cache holds.',
    labels: model,
    read: ofLoaded(({ cachedTokens }) => cachedTokens),
  },
  kv_capacity_tokens: {
    type: 'gauge',
    help: 'Tokens that the cache has room for.',
    labels: model,
    read: ofLoaded(({ cacheCapacityTokens }) => cacheCapacityTokens),
  },
  prefix_cache_bytes: {
    type: 'gauge',
    help: 'What is kept of earlier prompts for later ones, beside the cache.',
    labels: model,
    read: ofLoaded(({ prefixBytes }) => prefixBytes),
  },
  runner_resident_memory_bytes: {
    type: 'gauge',
    help: 'Resident memory of the model process.',
    labels: model,
    read: ofLoaded(({ residentBytes }) => residentBytes),
  },
  runner_last_step_age_seconds: {
    type: 'gauge',
    help: 'Since the last sign of progress of the model process; 0 while it has nothing to do.',
    labels: model,
    read: ofLoaded(({ silentMs }) => silentMs / 1000),
  },
} satisfies MetricRows;
