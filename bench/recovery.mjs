// Time to ready with many leftover tasks: all states and policies, and a plain long queue. How does it grow?
import { readFile, rm } from 'node:fs/promises';
import { countByStatus, everyCell, writeLeftovers } from './leftovers.mjs';
import { startService } from './service.mjs';

/** Nothing is claimed: what is measured is recovery alone. */
const ENV = { LMSP_MAX_ROWS: '0', LMSP_LOG_LEVEL: 'info', LMSP_MAX_QUEUED_TASKS: '10000000' };

const MIXTURES = {
  mixed: everyCell,
  queued: () => ({ state: 'queued', policy: 'retry', background: true }),
};

export default async function recovery(sizes) {
  const counts = (sizes.length > 0 ? sizes : ['10000', '100000']).map(Number);
  const figures = [];
  for (const mixture of Object.keys(MIXTURES)) {
    for (const count of counts) {
      figures.push(await measure(mixture, count));
      console.log(JSON.stringify(figures.at(-1)));
    }
  }
  console.table(figures.map(({ statuses, ...figure }) => figure));
  return { growth: growthOf(figures), figures };
}

/** Of each mixture: how many times the tasks and how many times the recovery, from the smallest to the largest. */
function growthOf(figures) {
  return Object.fromEntries(
    Object.keys(MIXTURES).map((mixture) => {
      const of = figures.filter((figure) => figure.mixture === mixture);
      const [first, last] = [of[0], of.at(-1)];
      const times = { tasks: last.leftovers / first.leftovers, recovery: last.recovery_s / first.recovery_s };
      return [mixture, { ...times, ready_s: last.ready_s }];
    }),
  );
}

async function measure(mixture, count) {
  const first = await startService({ env: { ...ENV, LMSP_LOG_LEVEL: 'warn' } });
  const { dataDir } = first;
  const { status } = await first.call('POST', '/v1/responses', { model: 'pocket', input: 'Hello', background: true });
  if (status !== 202) throw new Error(`a create answered ${status}`);
  await first.stop();
  await writeLeftovers(dataDir, count, MIXTURES[mixture]);
  let finished = {};
  const log = (line) => {
    if (line.includes('"recovery finished"')) finished = JSON.parse(line);
  };
  const service = await startService({ dataDir, env: ENV, log });
  const used = await usage(service.pid);
  await service.stop();
  const statuses = await countByStatus(dataDir);
  await rm(dataDir, { recursive: true, force: true });
  const seconds = (ms) => Math.round(ms) / 1000;
  return {
    mixture,
    leftovers: count,
    port_open_s: seconds(service.startup.listening),
    ready_s: seconds(service.startup.ready),
    recovery_s: seconds(finished.duration_ms),
    tasks_per_second: Math.round(finished.total / (finished.duration_ms / 1000)),
    ...used,
    statuses,
  };
}

/** Processor time and memory of the process since its start; zeros where there is no /proc. */
async function usage(pid) {
  const read = (name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
  const peak = /VmHWM:\s+(\d+) kB/.exec(await read('status'))?.[1] ?? 0;
  const [user = 0, system = 0] = (await read('stat')).split(') ').at(-1).split(' ').slice(11, 13).map(Number);
  return { cpu_s: (user + system) / 100, peak_rss_mb: Math.round(Number(peak) / 1024) };
}
