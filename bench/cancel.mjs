// From a cancel request to its answer `cancelled`: in the prompt beside one chunk's time, in the output beside one step's.
import { setTimeout as delay } from 'node:timers/promises';
import { percentile, startService } from './service.mjs';

const CHUNK_TOKENS = 128;
/** A cancel that comes too late is no fault here. */
/** The same prompts come again, and each time they are to be computed. */
const ENV = { LMSP_LOG_LEVEL: 'error', LMSP_PREFIX_CACHE_BYTES: '0' };
const DIGITS = Array.from({ length: 1850 }, (_, i) => String(i % 10)).join('');
/** With these the model's story has 600 tokens and more. */
const LONG_SEEDS = [9, 19, 21];
const LONG = { model: 'pocket', background: true, stream: true, temperature: 1 };

export default async function cancel([rounds = '60']) {
  const count = Number(rounds);
  const service = await startService({ connections: 4, env: ENV });
  const whole = [];
  for (let i = 0; i < 5; i++) whole.push(await uncancelled(service));
  const prefillMs = percentile(
    whole.map(({ prefill }) => prefill),
    50,
  );
  const chunks = Math.ceil(whole[0].promptTokens / CHUNK_TOKENS);
  const prompt = [];
  const output = [];
  const queued = [];
  let late = 0;
  while (prompt.length < count) {
    const stream = await open(service, { ...LONG, input: DIGITS, max_output_tokens: 100 });
    await stream.reach((event) => event.response?.lmsp.task_status === 'running');
    await delay(Math.random() * prefillMs * 0.8);
    const ms = await stream.cancel();
    await stream.end();
    // A token or the end came before the cancel: the prompt was through.
    if (ms === null || stream.deltas > 0) late++;
    else prompt.push(ms);
  }
  while (output.length < count) {
    const stream = await open(service, { ...LONG, ...story(output.length), max_output_tokens: 600 });
    const words = 1 + Math.floor(Math.random() * 60);
    await stream.reach(() => stream.deltas >= words);
    const ms = await stream.cancel();
    await stream.end();
    if (ms === null) late++;
    else output.push(ms);
  }
  const exit = await service.stop();
  await service.remove();
  const paused = await startService({ connections: 4, env: { ...ENV, LMSP_MAX_ROWS: '0' } });
  for (let i = 0; i < count; i++) {
    const stream = await open(paused, { ...LONG, input: 'Hello' });
    queued.push(await stream.cancel());
    await stream.end();
  }
  await paused.stop();
  await paused.remove();
  return {
    prompt_tokens: whole[0].promptTokens,
    chunk_ms: round(prefillMs / chunks),
    in_prompt: figures(prompt),
    too_late: late,
    step_ms: round(
      percentile(
        whole.map(({ step }) => step),
        50,
      ),
    ),
    in_output: figures(output),
    queued: figures(queued),
    exit,
  };
}

const story = (i) => ({ input: 'Tell me a very long story.', seed: LONG_SEEDS[i % LONG_SEEDS.length] });

/** How long prompt and steps take when nobody interferes; milliseconds. */
async function uncancelled(service) {
  const stream = await open(service, { ...LONG, input: DIGITS, max_output_tokens: 100 });
  await stream.reach((event) => event.response?.lmsp.task_status === 'running');
  const began = performance.now();
  await stream.reach(() => stream.deltas > 0);
  const first = performance.now();
  const last = await stream.end();
  const { input_tokens, output_tokens } = last.response.usage;
  return {
    prefill: first - began,
    step: (performance.now() - first) / (output_tokens - 1),
    promptTokens: input_tokens,
  };
}

/** A response with its stream; `reach` resolves at the first event that the condition holds for, or at the end. */
async function open(service, body) {
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${service.url}/v1/responses`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (answer.status !== 200) throw new Error(`a create answered ${answer.status} ${await answer.text()}`);
  const id = answer.headers.get('lmsp-task-id');
  const events = read(answer.body);
  let last = null;
  const stream = {
    deltas: 0,
    async reach(condition) {
      for (;;) {
        const { value, done } = await events.next();
        if (done) return;
        last = value;
        if (value.type === 'response.output_text.delta') stream.deltas++;
        if (condition(value)) return;
      }
    },
    async end() {
      for await (const event of events) {
        last = event;
        if (event.type === 'response.output_text.delta') stream.deltas++;
      }
      return last;
    },
    /** Milliseconds to the answer; null: the task had ended before. */
    async cancel() {
      const began = performance.now();
      const { status, body: text } = await service.call('POST', `/v1/tasks/${id}/cancel`);
      const task = JSON.parse(text);
      if (status === 400) return null;
      if (status !== 200 || task.status !== 'cancelled') throw new Error(`a cancel answered ${status} ${text}`);
      return performance.now() - began;
    },
  };
  return stream;
}

async function* read(body) {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + text).split('\n\n');
    rest = frames.pop();
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data && data !== '[DONE]') yield JSON.parse(data);
    }
  }
}

function figures(times) {
  return {
    cancels: times.length,
    p50_ms: round(percentile(times, 50)),
    p95_ms: round(percentile(times, 95)),
    max_ms: round(Math.max(...times)),
  };
}

const round = (value) => Math.round(value * 100) / 100;
