// /health while a model prefills 900 tokens 100 times and is loaded 100 times, beside the idle service.
import { setTimeout as delay } from 'node:timers/promises';
import { percentile, startService } from './service.mjs';

const INTERVAL_MS = 10;

export default async function healthLatency([rounds = '100']) {
  const count = Number(rounds);
  const service = await startService({ connections: 8 });
  const words = Array.from({ length: 880 }, (_, i) => String(i % 10)).join('');
  const prompt = { model: 'pocket', input: words, max_output_tokens: 1, temperature: 1 };
  let promptTokens = 0;
  const prefill = async () => {
    const { status, body } = await service.call('POST', '/v1/responses', prompt);
    const usage = status === 200 ? JSON.parse(body).usage : null;
    if (!usage) throw new Error(`prefill answered ${status} ${body}`);
    promptTokens = usage.input_tokens;
  };
  const load = async () => {
    for (const action of ['unload', 'load']) {
      const { status, body } = await service.call('POST', `/v1/models/${action}`, { model: 'pocket' });
      if (status !== 200) throw new Error(`${action} answered ${status} ${body}`);
    }
  };
  await prefill();
  const idle = await during(service, () => delay(5000));
  const prefills = await during(service, async () => {
    for (let i = 0; i < count; i++) await prefill();
  });
  const loads = await during(service, async () => {
    for (let i = 0; i < count; i++) await load();
  });
  const exit = await service.stop();
  await service.remove();
  return { rounds: count, prompt_tokens: promptTokens, idle, prefills, loads, exit };
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
  const began = performance.now();
  await work();
  done = true;
  await probe;
  const figure = (p) => Math.round(percentile(times, p) * 100) / 100;
  return {
    seconds: Math.round((performance.now() - began) / 100) / 10,
    probes: times.length,
    p50_ms: figure(50),
    p99_ms: figure(99),
    max_ms: figure(100),
  };
}
