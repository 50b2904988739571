// Ten thousand short responses: what the service and its processes hold afterwards, beside what they held after the
// first hundred.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, inParallel, rounded, startService } from './service.mjs';

const CONNECTIONS = 16;
const SETTLE_MS = 2000;

/** @param [responses of the first reading, of the last] */
export default async function memory([first = '100', last = '10000']) {
  const service = await startService({ connections: CONNECTIONS, env: { LMSP_MAX_QUEUED_TASKS_PER_CLIENT: '100000' } });
  try {
    const readings = [];
    let done = 0;
    const began = performance.now();
    const steps = [0.1, 0.25, 0.5].map((share) => Math.round(Number(last) * share));
    for (const goal of [Number(first), ...steps, Number(last)]) {
      await inParallel(goal - done, CONNECTIONS, (i) => respond(service, done + i));
      done = goal;
      await ended(service);
      await delay(SETTLE_MS);
      readings.push({ responses: done, ...(await residentOf(service.pid)) });
      console.error(JSON.stringify(readings.at(-1)));
    }
    console.table(readings);
    const [after, , , , whole] = readings;
    return {
      seconds: rounded((performance.now() - began) / 1000, 0),
      readings,
      last_over_first: {
        whole: rounded(whole.total_mb / after.total_mb, 3),
        service: rounded(whole.service / after.service, 3),
      },
    };
  } finally {
    await service.stop();
    await service.remove();
  }
}

async function respond(service, i) {
  const body = { model: 'pocket', input: `What is ${i % 50} + ${i % 31}?`, max_output_tokens: 8 };
  const { status, body: text } = await service.call('POST', '/v1/responses', body);
  if (status !== 200) throw new Error(`a create answered ${status} ${text}`);
}

async function ended(service) {
  await eventually(async () => {
    const { body } = await service.call('GET', '/v1/tasks?status=queued,loading,running,cancelling&limit=1');
    if (JSON.parse(body).data.length > 0) throw new Error('tasks are still running');
  });
}

/** Megabytes that the process and those it started hold. */
async function residentOf(pid) {
  const rows = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map((name) => processOf(Number(name)).catch(() => null)),
  );
  const known = rows.filter((row) => row !== null);
  const own = known.filter((row) => row.pid === pid || row.parent === pid);
  const name = (row) => (row.pid === pid ? 'service' : /text-worker/.test(row.command) ? 'prompts' : 'model');
  const each = Object.fromEntries(own.map((row) => [name(row), row.mb]));
  return {
    ...each,
    total_mb: rounded(
      own.reduce((sum, { mb }) => sum + mb, 0),
      1,
    ),
  };
}

async function processOf(pid) {
  const [status, command] = await Promise.all(
    ['status', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
  );
  const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return { pid, parent: field('PPid'), mb: rounded(field('VmRSS') / 1000, 1), command };
}
