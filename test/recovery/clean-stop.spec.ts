import { afterEach, describe, expect, it } from 'vitest';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceProcess } from '../support/service-process.js';
import { openStoredLogs } from '../support/stored-logs.js';
import { waitFor } from '../support/wait-for.js';

interface Listed {
  data: { id: string; status: string }[];
}

const RUNNING = 4;
const QUEUED = 20;
const ENV = { LMSP_MAX_ROWS: String(RUNNING), LMSP_THREADS: '1' };
const NPM: [string, ...string[]] = ['npm', 'start', '--silent'];

const started: ServiceProcess[] = [];
async function start(options: Parameters<typeof ServiceProcess.start>[0]): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(options);
  started.push(service);
  return service;
}

afterEach(async () => {
  for (const service of started.splice(0)) await service.dispose();
});

async function load(service: ServiceProcess): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < RUNNING + QUEUED; i++) {
    const body = {
      model: 'pocket',
      input: 'Tell me a very long story about a bear.',
      background: true,
      seed: i,
      temperature: 1,
    };
    const { id } = await service.json<{ id: string }>('POST', '/v1/responses', body);
    ids.push(id.replace('resp_', 'task_'));
  }
  await waitFor('four running tasks', async () => {
    const { data } = await service.json<Listed>('GET', '/v1/tasks?status=running&limit=100');
    return data.length === RUNNING;
  });
  return ids;
}

/** Starts again on the same directory and waits until every task has ended. */
async function finish(service: ServiceProcess, ids: string[]): Promise<void> {
  const again = await start({ dataDir: service.dataDir, env: { ...ENV, LMSP_MAX_ROWS: '8' } });
  await waitFor(
    'all tasks to end',
    async () => {
      const { data } = await again.json<Listed>('GET', '/v1/tasks?status=queued,loading,running,cancelling&limit=100');
      return data.length === 0;
    },
    120_000,
  );
  again.signal('SIGTERM');
  expect(await again.exit()).toBe(0);
  const logs = await openStoredLogs(service.dataDir);
  expect(logs.tasks.map((task) => task.id).sort()).toEqual([...ids].sort());
  expect(new Set(logs.tasks.map((task) => task.status))).toEqual(new Set(['completed']));
  expect(logs.faults).toEqual([]);
}

describe('a stop with 4 running and 20 queued background tasks (WIRE B6 clean stop)', () => {
  it.each([
    ['SIGTERM to npm alone', NPM, (service: ServiceProcess) => service.signal('SIGTERM')],
    ['SIGINT to the whole process group', NPM, (service: ServiceProcess) => service.signalGroup('SIGINT')],
    ['SIGTERM to the service', undefined, (service: ServiceProcess) => service.signal('SIGTERM')],
  ] as const)(
    '%s ends with 0, and a start completes all of them',
    async (_name, command, stop) => {
      const service = await start({ env: ENV, command });
      const ids = await load(service);
      stop(service);
      expect(await service.exit()).toBe(0);
      expect(existsSync(join(service.dataDir, 'lmsp.sqlite-wal'))).toBe(false);
      expect(existsSync(join(service.dataDir, 'service.json'))).toBe(false);
      expect(() => process.kill(service.pid, 0)).toThrow();
      const stopped = await openStoredLogs(service.dataDir);
      const statuses = stopped.tasks.map((task) => task.status);
      expect(statuses.filter((status) => status === 'cancelled' || status === 'failed')).toEqual([]);
      expect(stopped.tasks.filter((task) => task.owner !== null)).toEqual([]);
      await finish(service, ids);
    },
    180_000,
  );

  it('kill -9 instead: the same end', async () => {
    const service = await start({ env: ENV });
    const ids = await load(service);
    await service.kill();
    await finish(service, ids);
  }, 180_000);
});
