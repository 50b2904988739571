// A model is loaded, asked for some tokens and unloaded again and again, over HTTP: memory has to stay where it was.
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { percentile, startService } from './service.mjs';

const MB = 1_000_000;

export default async function loadRounds([rounds = '100', directory]) {
  const service = await startService();
  const post = async (path, body) => {
    const { status, body: text } = await service.call('POST', path, body);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return JSON.parse(text);
  };
  let model = 'pocket';
  if (directory) {
    model = 'measured';
    await post('/v1/models', { id: model, type: 'llm', source: { type: 'directory', path: directory } });
  }
  const loads = [];
  const runner = [];
  const own = [];
  try {
    for (let round = 0; round < Number(rounds); round++) {
      const since = performance.now();
      await post('/v1/models/load', { model, keep_alive_seconds: -1 });
      loads.push(performance.now() - since);
      await post('/v1/responses', { model, input: 'Hello', store: false, max_output_tokens: 8 });
      runner.push((JSON.parse((await service.call('GET', `/v1/models/${model}`)).body).lmsp.memory_bytes ?? 0) / MB);
      await unloaded(() => service.call('POST', '/v1/models/unload', { model }));
      own.push((await residentBytes(service.pid)) / MB);
    }
  } finally {
    await service.stop();
    await service.remove();
  }
  const tenth = Math.max(1, Math.floor(own.length / 10));
  return {
    model: directory ?? model,
    rounds: own.length,
    load_p50_ms: Math.round(percentile(loads, 50)),
    runner_first_mb: Math.round(runner[0]),
    runner_last_mb: Math.round(runner.at(-1)),
    runner_max_mb: Math.round(Math.max(...runner)),
    service_first_mb: Math.round(own[0]),
    service_last_mb: Math.round(own.at(-1)),
    service_mean_mb_by_tenths: Array.from({ length: 10 }, (_, i) => mean(own.slice(i * tenth, (i + 1) * tenth))),
  };
}

/** The seat of an answer is given back a moment after its last byte. */
async function unloaded(unload) {
  for (;;) {
    const { status, body } = await unload();
    if (status === 200) return;
    if (status !== 409) throw new Error(`unload: ${status} ${body}`);
    await delay(5);
  }
}

async function residentBytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)[1]) * 1024;
}

function mean(numbers) {
  return Math.round(numbers.reduce((sum, each) => sum + each, 0) / numbers.length);
}
