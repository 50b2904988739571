import { afterEach, expect, it } from 'vitest';
import { openStore, type Store } from '../../src/database/index.js';
import { ServiceProcess } from '../support/service-process.js';
import { insertTask, storeOptions } from '../support/store.js';
import { waitFor } from '../support/wait-for.js';

const TASKS = 150;
const EVENTS = 200;
const DAY = 86_400_000;
const ENV = { LMSP_RETENTION_BATCH_EVENTS: '500', LMSP_THREADS: '1' };

let service: ServiceProcess | undefined;
afterEach(() => service?.dispose());

async function withStore<T>(dataDir: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(storeOptions(dataDir));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Ended tasks that are past their time, one that is not, and an old one that waits. */
function fill(store: Store): Promise<void> {
  return store.units.run(async (tx) => {
    const [owner] = await tx.query<{ id: string }>('select id from clients where owner = 1');
    const numbers = JSON.stringify(Array.from({ length: EVENTS }, (_, i) => i));
    const add = async (id: string, columns: object): Promise<void> => {
      await insertTask(tx, { id, client_id: owner?.id, last_sequence_number: EVENTS - 1, ...columns });
      await tx.execute(
        `INSERT INTO task_events (task_id, sequence_number, type, payload, created_at)
         SELECT ?, value, 'response.created', '{}', 1 FROM json_each(?)`,
        [id, numbers],
      );
    };
    for (let i = 0; i < TASKS; i++) await add(`old_${i}`, { status: 'completed', finished_at: Date.now() - 8 * DAY });
    await add('task_young', { status: 'completed', finished_at: Date.now() });
    await add('task_waiting', { type: 'response', model: 'nobody', created_at: Date.now() - 90 * DAY });
  });
}

const look = (dataDir: string) =>
  withStore(dataDir, async ({ reader }) => {
    const [row] = await reader.query<Record<'tasks' | 'events' | 'marked' | 'integrity', number>>(
      `select (select count(*) from tasks) as tasks, (select count(*) from task_events) as events,
         (select count(*) from tasks where events_expired_at is not null) as marked`,
    );
    const [check] = await reader.query<{ integrity_check: string }>('PRAGMA integrity_check');
    return { ...row!, integrity: check?.integrity_check };
  });

it('kill -9 in the middle of a big retention: the next start goes on and ends it (CASES BL-16)', async () => {
  service = await ServiceProcess.start({ env: ENV });
  const { dataDir } = service;
  service.signal('SIGTERM');
  expect(await service.exit()).toBe(0);
  await withStore(dataDir, fill);

  const running = (service = await ServiceProcess.start({ dataDir, env: ENV }));
  await waitFor('a part to be gone', async () => (await tasksOf(running)) < TASKS - 10);
  await service.kill();
  const killed = await look(dataDir);
  expect(killed.integrity).toBe('ok');
  expect(killed.tasks).toBeGreaterThan(2);
  expect(killed.events).toBeGreaterThan(2 * EVENTS);

  const again = (service = await ServiceProcess.start({ dataDir, env: ENV }));
  // Marked before the kill: they go at once. The others once as much time has run as the service was away.
  await waitFor('all of them to be gone', async () => (await tasksOf(again)) === 2, 60_000);
  service.signal('SIGTERM');
  expect(await service.exit()).toBe(0);
  expect(await look(dataDir)).toEqual({ tasks: 2, events: 2 * EVENTS, marked: 0, integrity: 'ok' });
}, 180_000);

async function tasksOf(running: ServiceProcess): Promise<number> {
  const { data } = await running.json<{ data: { kind: string; rows: number }[] }>('GET', '/v1/service/retention');
  return data.find(({ kind }) => kind === 'tasks')?.rows ?? 0;
}
