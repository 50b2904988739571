// onnxruntime-genai in a Python process, on the graph that the folder's genai_config.json names.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PYTHON, pythonEnvironment } from './install.mjs';

const SCRIPT = fileURLToPath(new URL('genai.py', import.meta.url));

/** Prompts that it is given at once are one batch, which it takes only if they are of one length. */
export async function startGenai({ directory, threads }) {
  const child = spawn(PYTHON, [SCRIPT, directory, threads].map(String), {
    env: { ...process.env, ...pythonEnvironment('onnxruntime-genai') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const batches = [];
  let next = [];
  const send = () => {
    const prompts = next.map(({ ids }) => ids);
    child.stdin.write(`${JSON.stringify({ prompts, tokens: next[0].tokens })}\n`);
    batches.push(next);
    next = [];
  };
  await new Promise((resolve, reject) => {
    void exited.then((code) => {
      const error = new Error(`onnxruntime-genai ended with ${code}`);
      for (const each of [{ reject }, ...batches.flat(), ...next]) each.reject(error);
    });
    child.stdin.on('error', () => {});
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { ready, asked, times, outputs } = JSON.parse(line);
      if (ready) resolve();
      else
        batches.shift().forEach((each, i) => each.resolve({ asked, times, tokens: each.tokens, output: outputs[i] }));
    });
  });
  return {
    generate: ({ ids }, tokens) =>
      new Promise((resolve, reject) => {
        if (next.push({ ids, tokens, resolve, reject }) === 1) setImmediate(send);
      }),
    stop() {
      child.kill('SIGKILL');
      return exited;
    },
  };
}
