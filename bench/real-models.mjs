// What real models do (LMSP_TEST_MODELS): load, memory, decode and prefill, for each folder; best of some rounds.
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessEncodingEngine, ProcessEngine } from '../dist/src/inference/index.js';
import { findGraph } from '../dist/src/models/find-graph.js';

const CONTEXT = 48;
const STEPS = 32;
const PREFILL = 900;
const GREEDY = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
};
const TEXT = 'The quick brown fox jumps over the lazy dog while a committee of owls takes the minutes. '.repeat(8);

const MODELS = [
  { name: 'A (GQA, external data)', folder: 'smollm2-135m-instruct', layout: 'huggingface' },
  { name: 'A by genai_config.json', folder: 'smollm2-135m-instruct', layout: 'genai' },
  { name: 'C (Concat, one file)', folder: 'smollm2-135m-6layers-plain', layout: 'huggingface' },
];
const ENCODER = { name: 'D (MiniLM)', folder: 'all-minilm-l6-v2', layout: 'huggingface' };

export default async function realModels([rounds = '3', activations = 'int8']) {
  const models = process.env.LMSP_TEST_MODELS;
  if (!models) throw new Error('LMSP_TEST_MODELS names no folder of real models');
  const runnersDirectory = await mkdtemp(join(tmpdir(), 'lmsp-runners-'));
  const process_ = { runnersDirectory, stallSeconds: 60 };
  const engine = new ProcessEngine({ ...process_, maxWaiting: 1 });
  const encoders = new ProcessEncodingEngine(process_);
  const specOf = async ({ name, folder, layout }) => {
    const directory = join(models, folder);
    const { graphFile } = await findGraph({ directory, layout });
    return { id: name, directory, graphFile, rows: 8, threads: Math.min(availableParallelism(), 4), activations };
  };
  const found = [];
  for (const model of MODELS) found.push(await textModel(engine, await specOf(model), Number(rounds)));
  found.push(await encoder(encoders, { ...(await specOf(ENCODER)), task: 'embedding' }, Number(rounds)));
  await rm(runnersDirectory, { recursive: true });
  console.table(Object.fromEntries(found.map(({ name, ...figures }) => [name, figures])));
  return { activations, rounds: Number(rounds), load_average: loadavg()[0], models: found };
}

async function opened(open, rounds) {
  let model;
  const loads = [];
  for (let i = 0; i < rounds; i++) {
    await model?.close();
    const since = performance.now();
    model = await open();
    loads.push(performance.now() - since);
  }
  return { model, load_ms: Math.round(Math.min(...loads)) };
}

async function textModel(engine, spec, rounds) {
  const { model, load_ms } = await opened(() => engine.open(spec), rounds);
  const loaded = model.info.residentBytes;
  const logitBias = Object.fromEntries(model.info.endTokenIds.map((id) => [id, -1000]));
  const run = async (length, maxOutputTokens) => {
    const promptIds = Array.from({ length }, (_, i) => 100 + ((i * 7919) % 20_000));
    const sampling = { ...GREEDY, logitBias };
    const times = [performance.now()];
    const request = { id: String(times[0]), promptIds, seed: 1, sampling, stop: [], maxOutputTokens };
    const generation = model.generate(request, {
      step({ index }) {
        times.push(performance.now());
        generation.acknowledge(index);
      },
    });
    const end = await generation.ended;
    if (end.outcome !== 'finished') throw new Error(JSON.stringify(end));
    return times;
  };
  let decode = 0;
  let prefill = 0;
  for (let i = 0; i < rounds; i++) {
    const times = await run(CONTEXT, STEPS + 1);
    decode = Math.max(decode, STEPS / (times.at(-1) - times[1]));
    const [asked, first] = await run(PREFILL, 1);
    prefill = Math.max(prefill, PREFILL / (first - asked));
  }
  const { residentBytes } = await model.activity();
  await model.close();
  return {
    name: spec.id,
    load_ms,
    loaded_mb: Math.round(loaded / 1e6),
    worked_mb: Math.round(residentBytes / 1e6),
    decode_tokens_per_second: Math.round(decode * 1000),
    prefill_tokens_per_second: Math.round(prefill * 1000),
  };
}

async function encoder(encoders, spec, rounds) {
  const { model, load_ms } = await opened(() => encoders.open(spec), rounds);
  const loaded = model.info.residentBytes;
  let speed = 0;
  for (let i = 0; i < rounds; i++) {
    const since = performance.now();
    const results = await model.encode({ texts: Array(8).fill(TEXT) }, new AbortController().signal);
    const tokens = results.reduce((sum, result) => sum + result.tokens, 0);
    speed = Math.max(speed, tokens / (performance.now() - since));
  }
  const { residentBytes } = await model.activity();
  await model.close();
  return {
    name: spec.id,
    load_ms,
    loaded_mb: Math.round(loaded / 1e6),
    worked_mb: Math.round(residentBytes / 1e6),
    prefill_tokens_per_second: Math.round(speed * 1000),
  };
}
