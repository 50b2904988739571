// Time to the first token of the next turn of a conversation of ~900 tokens on SmolLM2 (LMSP_TEST_MODELS), with the prefix
// cache and without, by turns: by previous_response_id, and by chat completions with the whole history. The answers must
// be the same. Arguments: rounds, threads.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { eventually, percentile, startService } from './service.mjs';

const MODEL = 'smollm2';
const PROMPT_TOKENS = 870;
/** The first turns differ in length by up to a block, since what is behind their last whole one is computed again. */
const SPREAD = 64;
const ANSWER_TOKENS = 40;
const NEXT = 'Which of these places would you visit first?';
const PLACES = ['harbour', 'mill', 'library', 'garden', 'station', 'market', 'tower', 'bridge', 'chapel', 'school'];

export default async function prefixCache([rounds = '5', threads = String(Math.min(availableParallelism(), 4))]) {
  const folder = process.env.LMSP_TEST_MODELS;
  if (!folder) throw new Error('LMSP_TEST_MODELS names no folder of real models');
  const path = join(folder, 'smollm2-135m-instruct');
  const sides = {
    off: await opened(path, { LMSP_THREADS: threads, LMSP_PREFIX_CACHE_BYTES: '0' }),
    on: await opened(path, { LMSP_THREADS: threads }),
  };
  try {
    const found = {};
    for (const [name, ask] of Object.entries({ previous_response_id: byId, chat_completions: byHistory })) {
      found[name] = await compare(sides, ask, Number(rounds), name);
    }
    console.table(found);
    return { rounds: Number(rounds), threads: Number(threads), ...found };
  } finally {
    for (const service of Object.values(sides)) {
      await service.stop();
      await service.remove();
    }
  }
}

async function opened(path, env) {
  const service = await startService({ env });
  const post = async (route, body) => {
    const answer = await service.call('POST', route, body);
    if (answer.status >= 300) throw new Error(`${route}: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body);
  };
  await post('/v1/models', { id: MODEL, type: 'llm', source: { type: 'directory', path } });
  await eventually(async () => {
    const { lmsp } = JSON.parse((await service.call('GET', `/v1/models/${MODEL}`)).body);
    if (lmsp.state !== 'available') throw new Error(lmsp.state);
  });
  await post('/v1/models/load', { model: MODEL, keep_alive_seconds: -1 });
  return Object.assign(service, { post });
}

/** The same conversations on both sides, each new to both; who goes first alternates. */
async function compare(sides, ask, rounds, name) {
  const times = { on: [], off: [] };
  const [prompts, rests] = [[], []];
  for (let round = -1; round < rounds; round++) {
    const story = await storyOf(
      sides.on,
      `${name} ${round}`,
      PROMPT_TOKENS - (((SPREAD * (round + 1)) / rounds) % SPREAD),
    );
    const seen = {};
    for (const side of round % 2 === 0 ? ['on', 'off'] : ['off', 'on']) seen[side] = await ask(sides[side], story);
    if (seen.on.text !== seen.off.text) throw new Error(`other text: ${seen.on.text} / ${seen.off.text}`);
    // The first round warms up.
    if (round < 0) continue;
    for (const side of ['on', 'off']) times[side].push(seen[side].firstMs);
    prompts.push(seen.on.promptTokens);
    rests.push(seen.on.promptTokens - seen.on.cachedTokens);
  }
  const [on, off] = [percentile(times.on, 50), percentile(times.off, 50)];
  return {
    on_ms: Math.round(on),
    off_ms: Math.round(off),
    ratio: Math.round((off / on) * 100) / 100,
    least_ratio: Math.round(Math.min(...times.on.map((time, i) => times.off[i] / time)) * 100) / 100,
    prompt_tokens: percentile(prompts, 50),
    computed_tokens: percentile(rests, 50),
  };
}

/** A text of its own from the first words on, so many tokens long with its template. */
async function storyOf(service, title, length) {
  let story = `${title}:`;
  for (let i = 0; ; i++) {
    const place = PLACES[(i * 7 + title.length) % PLACES.length];
    const next = `${story} Stop ${i + 1} of the walk is the old ${place} near street ${(i * 37) % 90}.`;
    const { input_tokens: tokens } = await service.post('/v1/responses/input_tokens', { model: MODEL, input: next });
    if (tokens > length) return story;
    story = next;
  }
}

async function byId(service, story) {
  const fields = { model: MODEL, max_output_tokens: ANSWER_TOKENS, temperature: 0 };
  const { id } = await service.post('/v1/responses', { ...fields, input: story });
  const { firstMs, last } = await streamed(service, '/v1/responses', 'response.output_text.delta', {
    ...fields,
    input: NEXT,
    previous_response_id: id,
  });
  const { usage, output } = last.response;
  return { firstMs, text: output[0].content[0].text, ...counts(usage.input_tokens, usage.input_tokens_details) };
}

async function byHistory(service, story) {
  const fields = { model: MODEL, max_tokens: ANSWER_TOKENS, temperature: 0 };
  const messages = [{ role: 'user', content: story }];
  const { choices } = await service.post('/v1/chat/completions', { ...fields, messages });
  messages.push({ role: 'assistant', content: choices[0].message.content }, { role: 'user', content: NEXT });
  const asked = { ...fields, messages, stream_options: { include_usage: true } };
  const { firstMs, last, all } = await streamed(service, '/v1/chat/completions', '"content":"', asked);
  const { prompt_tokens: tokens, prompt_tokens_details: details } = last.usage;
  const text = all.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  return { firstMs, text, ...counts(tokens, details) };
}

function counts(promptTokens, { cached_tokens: cachedTokens }) {
  return { promptTokens, cachedTokens };
}

/** Milliseconds from the request to the first bytes with `mark`. */
async function streamed(service, route, mark, body) {
  const since = performance.now();
  const response = await fetch(`${service.url}${route}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true }),
  });
  const decoder = new TextDecoder();
  let firstMs = null;
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (firstMs === null && text.includes(mark)) firstMs = performance.now() - since;
  }
  const all = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json));
  if (firstMs === null) throw new Error(`no token: ${text}`);
  return { firstMs, last: all.at(-1), all };
}
