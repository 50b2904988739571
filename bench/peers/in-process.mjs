// Something that is compared inside a process of its own: a script that takes prompts and sends the times of tokens.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** `streams`: prompts that it may be given at once. Times are the script's own: of the monotonic clock of the machine. */
export async function startInProcess(script, parameters) {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify(parameters)]);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const waiting = new Map();
  let asked = 0;
  await new Promise((resolve, reject) => {
    void exited.then((code) => {
      const error = new Error(`${script} ended with ${code}`);
      for (const each of [{ reject }, ...waiting.values()]) each.reject(error);
    });
    child.on('message', ({ id, ...found }) => {
      if (id === undefined) resolve();
      else waiting.get(id).resolve(found);
      waiting.delete(id);
    });
  });
  return {
    generate: ({ ids }, tokens) =>
      new Promise((resolve, reject) => {
        const id = ++asked;
        waiting.set(id, { resolve: (found) => resolve({ ...found, tokens }), reject });
        child.send({ id, ids, tokens });
      }),
    stop() {
      child.kill('SIGKILL');
      return exited;
    },
  };
}

/** The other side: `generate(ids, tokens, tell)` calls `tell(token)` at each one, with its id if known, and resolves at the end. */
export function serveInProcess(generate) {
  process.on('message', ({ id, ids, tokens }) => {
    const asked = performance.now();
    const times = [];
    const output = [];
    const tell = (token) => {
      times.push(performance.now());
      output.push(token);
    };
    void generate(ids, tokens, tell).then(() => {
      if (times.length !== tokens) throw new Error(`${times.length} of ${tokens} tokens`);
      process.send({ id, asked, times, output });
    });
  });
  process.send({});
}
