import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PlainConnection } from '../../src/database/plain-connection.js';
import { distEntry } from '../support/dist-entry.js';
import { ServiceProcess } from '../support/service-process.js';
import { SmallDisk } from '../support/small-disk.js';
import { openStoredLogs } from '../support/stored-logs.js';
import { waitFor } from '../support/wait-for.js';

interface Listed {
  data: { id: string; status: string; error: { code: string } | null }[];
}

const STORY = { model: 'pocket', input: 'Tell me a very long story about a bear.', background: true, temperature: 1 };
const ENV = {
  LMSP_MAX_ROWS: '3',
  LMSP_STORAGE_WAIT_SECONDS: '1',
  LMSP_STORE_CHECK_SECONDS: '1',
  LMSP_LOG_LEVEL: 'warn',
  LMSP_DISK_FLOOR_BYTES: '0',
};

/** Enough for a dozen stories on a machine that has other things to do. */
const PATIENCE_MS = 120_000;

let disk: SmallDisk;
let service: ServiceProcess;

const launch = (env: Record<string, string> = {}): Promise<ServiceProcess> =>
  ServiceProcess.launch({
    dataDir: disk.outside,
    env: { ...ENV, LMSP_DATA_DIR: disk.inside, ...env },
    command: disk.command(process.execPath, distEntry('main.js')),
  });

async function start(): Promise<void> {
  service = await launch();
  await service.ready();
}

const accepted: string[] = [];

/** Answers with the status; an accepted task is remembered. */
async function create(): Promise<Response> {
  const response = await service.request('POST', '/v1/responses', { ...STORY, seed: accepted.length });
  if (response.status === 202) accepted.push(((await response.json()) as { id: string }).id.replace('resp_', 'task_'));
  return response;
}

const tasks = async (query: string): Promise<Listed['data']> =>
  (await service.json<Listed>('GET', `/v1/tasks?limit=100&${query}`)).data;

const hasBallast = (): boolean => existsSync(join(disk.outside, 'ballast'));

beforeEach(async () => {
  accepted.length = 0;
  disk = await SmallDisk.mount('20m');
});

afterEach(async () => {
  await service.kill();
  await disk.unmount();
});

describe.runIf(SmallDisk.available)('a data directory on a file system of 20 MB (CASES BL-15)', () => {
  it('that fills up while 3 tasks run: 507 and no 202, nothing is lost, and it goes on once there is room', async () => {
    await start();
    expect(statSync(join(disk.outside, 'ballast')).size, 'a quarter of the file system').toBe(5 * 1024 * 1024);
    for (let i = 0; i < 9; i += 1) expect((await create()).status).toBe(202);
    await waitFor('3 running tasks', async () => (await tasks('status=running')).length === 3);
    await disk.fill();

    const refused = await waitFor('a refused create', async () => {
      const response = await create();
      return response.status === 202 ? null : response;
    });
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      507,
      'storage_full',
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(hasBallast(), 'it has made room for what is under way').toBe(false);
    expect((await create()).status, 'but not for new work').toBe(507);

    await disk.fill();
    await waitFor('writes that are tried again', () => service.output.includes('write is tried again'));
    expect((await create()).status).toBe(507);
    expect((await service.request('GET', '/health')).status).toBe(200);

    await disk.empty();
    expect((await create()).status).toBe(202);
    const ended = await waitFor(
      'every task to end',
      async () => {
        const found = await tasks('status=completed,failed');
        return found.length === accepted.length ? found : null;
      },
      PATIENCE_MS,
    );
    expect(ended.map(({ id }) => id).sort()).toEqual([...accepted].sort());
    for (const { status, error } of ended) {
      expect([status, error?.code]).toEqual(
        status === 'completed' ? ['completed', undefined] : ['failed', 'storage_full'],
      );
    }
    await waitFor('the ballast', hasBallast);
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);
    const copy = await disk.copy();
    const look = await PlainConnection.open(join(copy, 'lmsp.sqlite'), sqlite3.OPEN_READONLY);
    expect(await look.rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    await look.close();
    const { tasks: stored, faults } = await openStoredLogs(copy);
    expect(stored.map(({ id }) => id).sort()).toEqual([...accepted].sort());
    expect(faults).toEqual([]);
  }, 240_000);

  it('that is full at a start after a kill: the ballast gives the recovery its room, and nothing begins', async () => {
    await start();
    for (let i = 0; i < 9; i += 1) await create();
    await waitFor('3 running tasks', async () => (await tasks('status=running')).length === 3);
    await service.kill();
    await disk.fill();
    await start();
    await waitFor('claims that wait for room', () => service.output.includes('write is tried again'));
    expect(await tasks('status=loading,completed,failed')).toEqual([]);
    expect([hasBallast(), (await create()).status]).toEqual([false, 507]);
    await disk.empty();
    expect((await create()).status).toBe(202);
    await waitFor(
      'every task to end',
      async () => (await tasks('status=completed')).length === accepted.length,
      PATIENCE_MS,
    );
    await waitFor('the ballast', hasBallast);
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);
    expect((await openStoredLogs(await disk.copy())).faults).toEqual([]);
  }, 240_000);
});
