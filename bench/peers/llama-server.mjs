// The server of llama.cpp (from PyPI's xllamacpp) on the same weights, over its HTTP streams.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { GGUF, PYTHON, pythonEnvironment } from './install.mjs';
import { postForEvents } from './sse.mjs';

const SCRIPT = fileURLToPath(new URL('llama_server.py', import.meta.url));
const CONTEXT = 2048;

export async function startLlamaServer({ threads, slots = 1 }) {
  const child = spawn(PYTHON, [SCRIPT, GGUF, threads, slots, CONTEXT].map(String), {
    env: { ...process.env, ...pythonEnvironment('python') },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise((resolve, reject) => {
    lines.on('line', (line) => line.startsWith('http') && resolve(line.trim()));
    void exited.then((code) => reject(new Error(`the server of llama.cpp ended with ${code}`)));
  });
  return {
    generate: (prompt, tokens) => generate(url, prompt, tokens),
    stop() {
      child.kill('SIGKILL');
      return exited;
    },
  };
}

async function generate(url, { ids }, tokens) {
  const body = {
    prompt: ids,
    n_predict: tokens,
    stream: true,
    cache_prompt: false,
    return_tokens: true,
    ignore_eos: true,
    temperature: 0,
    top_k: 1,
    samplers: ['top_k'],
  };
  const asked = performance.now();
  const times = [];
  const pieces = [];
  let end;
  const data = (payload) => {
    if (payload.includes('"stop":false')) {
      times.push(performance.now());
      pieces.push(payload);
    } else if (payload.includes('"stop":true')) end = JSON.parse(payload);
  };
  await postForEvents(`${url}/completion`, { body, data });
  if (end?.tokens_predicted !== tokens || end.tokens_evaluated !== ids.length) {
    throw new Error(`llama.cpp: ${JSON.stringify(end)} where ${ids.length} and ${tokens} tokens were wanted`);
  }
  const output = pieces.flatMap((piece) => JSON.parse(piece).tokens);
  return { asked, times, tokens, output };
}
