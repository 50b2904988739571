import { afterEach, describe, expect, it, vi } from 'vitest';
import { ServiceProcess } from '../support/service-process.js';
import { waitFor } from '../support/wait-for.js';

const AT_ONCE = 30;

// Each life of the service is a start of its own.
vi.setConfig({ testTimeout: 180_000 });

interface Listed {
  data: { id: string; status: string; error: { code: string } | null; metadata: { key?: string } }[];
}

const started: ServiceProcess[] = [];
async function start(dataDir?: string): Promise<ServiceProcess> {
  const service = await ServiceProcess.start({ dataDir, env: { LMSP_THREADS: '1' } });
  started.push(service);
  return service;
}

/** Ends the process as a power cut does, and starts the next on what it left. */
async function killed(service: ServiceProcess): Promise<ServiceProcess> {
  await service.kill();
  return start(service.dataDir);
}

afterEach(async () => {
  for (const service of started.splice(0)) await service.dispose();
});

async function create(service: ServiceProcess, key: string, fields: object = { background: true }) {
  const body = { model: 'pocket', input: 'Hello', metadata: { key }, ...fields };
  const response = await service.request('POST', '/v1/responses', body, { headers: { 'Idempotency-Key': key } });
  const { id } = (await response.json()) as { id: string };
  return { status: response.status, id, replayed: response.headers.get('idempotent-replayed') === 'true' };
}

async function tasksOf(service: ServiceProcess, key: string): Promise<Listed['data']> {
  const { data } = await service.json<Listed>('GET', '/v1/tasks?limit=100');
  return data.filter(({ metadata }) => metadata.key === key);
}

describe('kill -9 and the repeat of a create (CASES BL-18, WIRE B6, R1)', () => {
  it('right after the first 202: the repeat finds the task, in each of five lives', async () => {
    let service = await start();
    for (let life = 0; life < 5; life++) {
      const key = `life-${life}`;
      const first = await create(service, key);
      service = await killed(service);
      expect(await create(service, key)).toEqual({ status: 202, id: first.id, replayed: true });
      expect(await tasksOf(service, key)).toHaveLength(1);
    }
  });

  it.each([1, 10, 20])(
    `amid ${AT_ONCE} creates, at answer %i: each key has one task, and those answered keep theirs`,
    async (last) => {
      let service = await start();
      const keys = Array.from({ length: AT_ONCE }, (_, i) => `amid-${i}`);
      const answered = new Map<string, string>();
      const victim = service;
      const sent = keys.map(async (key) => {
        const { id } = await create(victim, key);
        answered.set(key, id);
        if (answered.size === last) victim.signal('SIGKILL');
      });
      await Promise.allSettled(sent);
      service = await killed(service);
      for (const key of keys) {
        const repeat = await create(service, key);
        expect(repeat.status).toBe(202);
        if (answered.has(key)) expect(repeat).toEqual({ status: 202, id: answered.get(key), replayed: true });
        expect(await tasksOf(service, key)).toHaveLength(1);
      }
      expect(answered.size).toBeGreaterThanOrEqual(last);
    },
  );

  it('in the foreground: the task fails, its key goes with it, and the repeat runs anew (C2)', async () => {
    let service = await start();
    const story = { input: 'Tell me a very long story.', temperature: 1, seed: 1 };
    const lost = create(service, 'story', story).catch(() => null);
    const task = await waitFor('the task to run', async () =>
      (await tasksOf(service, 'story')).find(({ status }) => status === 'running'),
    );
    service = await killed(service);
    expect(await lost).toBeNull();
    const repeat = await create(service, 'story', story);
    expect([repeat.status, repeat.replayed]).toEqual([200, false]);
    expect(repeat.id).not.toBe(task.id.replace('task_', 'resp_'));
    const old = await service.json<Listed['data'][0]>('GET', `/v1/tasks/${task.id}`);
    expect([old.status, old.error?.code]).toEqual(['failed', 'server_restarted']);
  });
});
