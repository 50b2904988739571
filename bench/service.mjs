// A service process for measurements: real engine, real store, a directory of its own.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const LONGEST_RECOVERY_MS = 600_000;
/** Asking each 10 ms took the service a fifth of the thread that recovers. */
const READY_POLL_MS = 50;
const MAIN = fileURLToPath(new URL('../dist/src/main.js', import.meta.url));

/**
 * Starts the service on a new directory or a given one; resolves when it is ready. `call` sends JSON over at most
 * `connections` sockets; `startup` tells the milliseconds from the spawn to the open port and to readiness; `log` hears
 * the lines of the service's log.
 */
export async function startService({
  env = {},
  connections = 64,
  dataDir: kept,
  log,
  main = MAIN,
  execArgv = [],
} = {}) {
  const dataDir = kept ?? (await mkdtemp(join(tmpdir(), 'lmsp-bench-')));
  await rm(join(dataDir, 'service.json'), { force: true });
  const began = performance.now();
  const child = spawn(process.execPath, [...execArgv, main], {
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: '8',
      MALLOC_ARENA_MAX: '1',
      LMSP_PORT: '0',
      LMSP_DATA_DIR: dataDir,
      LMSP_LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', log ? 'pipe' : 'inherit', 'inherit'],
  });
  if (log) createInterface({ input: child.stdout }).on('line', log);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const { url } = await eventually(() => readFile(join(dataDir, 'service.json'), 'utf8').then(JSON.parse));
  const listening = performance.now() - began;
  await eventually(
    async () => (await fetch(`${url}/ready`)).ok || Promise.reject(new Error('not ready')),
    LONGEST_RECOVERY_MS,
    READY_POLL_MS,
  );
  const startup = { listening, ready: performance.now() - began };
  const token = (await readFile(join(dataDir, 'owner-token'), 'utf8')).trim();
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });

  /** Resolves with `{ status, body }`; the body is text. */
  function call(method, path, body, others = {}) {
    return new Promise((resolve, reject) => {
      const payload = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        ...others,
        authorization: `Bearer ${token}`,
        ...(payload && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
      };
      const request = http.request(`${url}${path}`, { method, agent, headers }, (response) => {
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (chunk) => (text += chunk))
          .on('end', () => resolve({ status: response.statusCode, body: text }));
      });
      request.on('error', reject).end(payload);
    });
  }

  /** Ends it cleanly; the directory stays until `remove`. */
  async function stop() {
    agent.destroy();
    child.kill('SIGTERM');
    return exited;
  }
  return {
    url,
    token,
    dataDir,
    pid: child.pid,
    startup,
    call,
    stop,
    remove: () => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Tries until it works, for a minute. */
export async function eventually(attempt, limitMs = 60_000, pollMs = 10) {
  const end = performance.now() + limitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
      await delay(pollMs);
    }
  }
}

/** Runs `work(i)` for i = 0..count-1, `width` at a time. */
export async function inParallel(count, width, work) {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(width, count) }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

export function percentile(values, p) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? 0;
}

/** The lower middle one of an even number. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

export function rounded(value, digits) {
  return Number(value.toFixed(digits));
}
