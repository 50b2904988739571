import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ServiceProcess } from '../support/service-process.js';
import { openStoredLogs } from '../support/stored-logs.js';
import { waitFor } from '../support/wait-for.js';

interface Task {
  id: string;
  status: string;
  attempt: number;
  error: { code: string } | null;
}

const STORY = { model: 'pocket', input: 'Tell me a very long story about a bear.', background: true, temperature: 1 };

/** A model is loaded again after a pause, and the machine may have other things to do. */
const PATIENCE_MS = 90_000;

/** What a native library prints when it takes its process down. */
const ABORT_TEXT = /terminate called|Aborted|core dumped|SIGABRT|Napi::Error|free\(\)|assert/i;

let service: ServiceProcess;
afterEach(() => service.dispose());

async function start(env: Record<string, string> = {}): Promise<void> {
  service = await ServiceProcess.start({ env: { LMSP_THREADS: '1', ...env } });
}

const create = async (fields: Record<string, unknown> = {}): Promise<string> =>
  (await service.json<{ id: string }>('POST', '/v1/responses', { ...STORY, ...fields })).id.replace('resp_', 'task_');

const task = (id: string): Promise<Task> => service.json<Task>('GET', `/v1/tasks/${id}`);

const until = (id: string, ...statuses: string[]): Promise<Task> =>
  waitFor(
    `${id} to be ${statuses.join(' or ')}`,
    async () => {
      const found = await task(id);
      return statuses.includes(found.status) ? found : null;
    },
    PATIENCE_MS,
  );

/** Process id of the model. */
const modelProcess = (): Promise<number> =>
  waitFor('a model process', async () => {
    const notes = await readdir(join(service.dataDir, 'runners')).catch(() => []);
    return notes[0] === undefined ? null : parseInt(notes[0], 10);
  });

const log = (text: string): Promise<boolean> => waitFor(`"${text}" in the log`, () => service.output.includes(text));

describe('SIGTERM to the service (CASES BL-30)', { timeout: 180_000 }, () => {
  it.each([
    ['while idle', () => Promise.resolve()],
    [
      'with an idle model',
      async () => {
        await until(await create({ max_output_tokens: 1 }), 'completed');
      },
    ],
    [
      'in a load',
      async () => {
        await create();
        await log('model loading');
        await modelProcess();
      },
    ],
    [
      'in a run',
      async () => {
        await until(await create(), 'running');
      },
    ],
  ])('%s ends with 0 and no abort text', async (_, arrange) => {
    await start();
    await arrange();
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);
    expect(service.output).not.toMatch(ABORT_TEXT);
    expect((await openStoredLogs(service.dataDir)).faults).toEqual([]);
  });
});

describe('SIGABRT to the process that holds the model (CASES BL-30)', { timeout: 180_000 }, () => {
  it('in a run: the service lives, each task follows its restart rule, and the next load works', async () => {
    await start({ LMSP_MAX_ROWS: '2' });
    const [retry, fail] = [await create({ on_restart: 'retry' }), await create({ on_restart: 'fail' })];
    await Promise.all([until(retry, 'running'), until(fail, 'running')]);
    const pid = await modelProcess();
    process.kill(pid, 'SIGABRT');
    await log('runner lost');
    expect((await service.request('GET', '/health')).status).toBe(200);
    const failed = await until(fail, 'failed', 'completed');
    expect([failed.status, failed.error?.code]).toEqual(['failed', 'model_error']);
    expect(await until(retry, 'completed')).toMatchObject({ attempt: 2, error: null });
    expect(await modelProcess()).not.toBe(pid);
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);
    expect((await openStoredLogs(service.dataDir)).faults).toEqual([]);
  });

  it('in a load: the service lives, and the next load works', async () => {
    await start();
    const first = await create({ max_output_tokens: 1 });
    process.kill(await modelProcess(), 'SIGABRT');
    expect(await until(first, 'completed', 'failed'), 'WIRE B4 row 15').toMatchObject({ status: 'completed' });
    await until(await create({ max_output_tokens: 1 }), 'completed');
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);
    expect((await openStoredLogs(service.dataDir)).faults).toEqual([]);
  });
});
