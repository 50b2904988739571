// /health while a model reads prompts of 1,500 tokens and while it is loaded, 20 times each, beside the idle service.
// LMSP_TEST_MODELS names the folder of real models; without, it is the embedded model and what its context holds.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { percentile, rounded, startService } from './service.mjs';

const INTERVAL_MS = 10;
const IDLE_MS = 5000;
const REAL_MODEL = 'smollm2-135m-instruct';
const PROMPT_TOKENS = { real: 1500, embedded: 900 };

/** @param [prefills and loads of each round, rounds] */
export default async function healthLatency([times = '20', rounds = '1']) {
  const count = Number(times);
  // The same prompt comes each time, and each time it is to be computed.
  const service = await startService({ connections: 8, env: { LMSP_PREFIX_CACHE_BYTES: '0' } });
  const post = async (path, body) => {
    const { status, body: text } = await service.call('POST', path, body);
    if (status >= 300) throw new Error(`${path} answered ${status} ${text}`);
    return JSON.parse(text);
  };
  try {
    const model = await measuredModel(post);
    const prompt = await promptFor(post, model);
    const prefill = async () => {
      const { usage } = await post('/v1/responses', { model, ...prompt, max_output_tokens: 1 });
      return usage.input_tokens;
    };
    const work = {
      idle: () => delay(IDLE_MS),
      prefills: async () => {
        for (let i = 0; i < count; i += 1) await prefill();
      },
      loads: async () => {
        for (let i = 0; i < count; i += 1) {
          await post('/v1/models/unload', { model });
          await post('/v1/models/load', { model });
        }
      },
    };
    const promptTokens = await prefill();
    const times = Object.fromEntries(Object.keys(work).map((kind) => [kind, []]));
    for (let round = 0; round < Number(rounds); round += 1) {
      for (const [kind, run] of Object.entries(work)) times[kind].push(...(await during(service, run)));
    }
    return report({ model, times: count, prompt_tokens: promptTokens }, times);
  } finally {
    await service.stop();
    await service.remove();
  }
}

async function measuredModel(post) {
  const models = process.env.LMSP_TEST_MODELS;
  if (!models) return 'pocket';
  const source = { type: 'directory', path: join(models, REAL_MODEL) };
  await post('/v1/models', { id: 'measured', type: 'llm', source });
  return 'measured';
}

/** Words until the prompt is as long as it should be. */
async function promptFor(post, model) {
  const goal = model === 'pocket' ? PROMPT_TOKENS.embedded : PROMPT_TOKENS.real;
  const form = (words) => ({
    input: Array.from({ length: words }, (_, i) => `${i % 10}`).join(model === 'pocket' ? '' : ' '),
  });
  const tokens = async (words) => (await post('/v1/responses/input_tokens', { model, ...form(words) })).input_tokens;
  const [few, many] = [await tokens(100), await tokens(200)];
  return form(Math.round(100 + ((goal - few) * 100) / (many - few)));
}

/** Asks /health every 10 ms on a connection of its own while the work runs; milliseconds. */
async function during(service, work) {
  const times = [];
  let done = false;
  const probe = (async () => {
    while (!done) {
      const sent = performance.now();
      const { status } = await service.call('GET', '/health');
      if (status !== 200) throw new Error(`/health answered ${status}`);
      times.push(performance.now() - sent);
      await delay(INTERVAL_MS);
    }
  })();
  await work();
  done = true;
  await probe;
  return times;
}

function report(setting, times) {
  const table = Object.entries(times).map(([during, taken]) => ({
    during,
    probes: taken.length,
    p50_ms: rounded(percentile(taken, 50), 2),
    p99_ms: rounded(percentile(taken, 99), 2),
    max_ms: rounded(percentile(taken, 100), 2),
    p99_over_idle_ms: rounded(percentile(taken, 99) - percentile(times.idle, 99), 2),
  }));
  console.table(table);
  const overIdle = Object.fromEntries(table.slice(1).map((row) => [row.during, row.p99_over_idle_ms]));
  return { ...setting, p99_over_idle_ms: overIdle, cells: table };
}
