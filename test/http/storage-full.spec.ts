import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreCare } from '../../src/operations/index.js';
import { FakeEngine } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';
import { openStoredLogs } from '../support/stored-logs.js';
import { temporaryDirectory } from '../support/store.js';
import { waitFor } from '../support/wait-for.js';

const STEP_WINDOW = 32;
const SPEAKERS = 3;

let http: HttpApp;
let talking: boolean;
let states: string[];

beforeEach(async () => {
  talking = true;
  const engine = new FakeEngine({
    stepDelayMs: 1,
    *tokens() {
      while (talking) yield 'word ';
    },
  });
  const env = { LMSP_MAX_ROWS: '3', LMSP_STORAGE_WAIT_SECONDS: '1', LMSP_BALLAST_BYTES: '100000' };
  http = await HttpApp.start({ env, engine, dataDir: await temporaryDirectory() });
  states = [];
  http.notices.on('store.ballast', ({ state }) => void states.push(state));
});
afterEach(() => http.close());

/** As a full disk: the file cannot have more pages than it has. */
async function fillDisk(): Promise<void> {
  await http.store.units.run(async (tx) => {
    const [row] = await tx.query<{ page_count: number }>('PRAGMA page_count');
    await tx.query(`PRAGMA max_page_count = ${row!.page_count}`);
  });
}

const ready = async () => {
  const { status, body } = await http.call('GET', '/ready');
  return [status, body.reason];
};

const freeDisk = (): Promise<unknown> => http.store.units.run((tx) => tx.query('PRAGMA max_page_count = 1000000'));

const hasBallast = (): boolean => existsSync(join(http.dataDir, 'ballast'));

/** Steps of the task's row that are not on disk. */
async function ahead(taskId: string): Promise<number> {
  const [row] = await http.store.reader.query<{ n: number }>(
    `select count(*) as n from task_events where task_id = ? and type = 'response.output_text.delta'`,
    [taskId],
  );
  return (await http.call('GET', `/v1/tasks/${taskId}`)).body.progress.output_tokens - row!.n;
}

describe('a full disk while 3 tasks run (CASES BL-15, HOUSE 4.8)', { timeout: 120_000 }, () => {
  it('creates get 507 and no 202; the tasks fail with storage_full once that can be written; then all works again', async () => {
    const running: string[] = [];
    for (let i = 0; i < SPEAKERS; i += 1) running.push((await http.accept()).lmsp.task_id);
    for (const id of running) await http.task(id, 'running');
    let retries = 0;
    http.notices.on('storage.retry', ({ fault }) => void (retries += fault === 'full' ? 1 : 0));
    await fillDisk();
    // Each takes room, until the first finds none.
    const accepted: string[] = [];
    const refused = await waitFor('a refused create', async () => {
      const answer = await http.create({ background: true });
      if (answer.status === 202) accepted.push(answer.body.lmsp.task_id as string);
      return answer.status === 202 ? null : answer;
    });
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
      507,
      'storage_full',
      '30',
    ]);
    for (const id of running) await waitFor('its row to stop', async () => (await ahead(id)) >= STEP_WINDOW);
    await waitFor('ends that find no room', () => retries >= 2 * SPEAKERS);
    expect((await http.call('GET', '/health')).status).toBe(200);
    for (const id of running) expect((await http.call('GET', `/v1/tasks/${id}`)).body.status).toBe('running');
    expect(await ready()).toEqual([503, 'storage_full']);

    await freeDisk();
    for (const id of running) expect((await http.task(id, 'failed')).error.code).toBe('storage_full');
    talking = false;
    accepted.push((await http.accept()).lmsp.task_id);
    for (const id of accepted) await http.task(id, 'completed');
    expect(await ready()).toEqual([200, undefined]);
    expect(await http.store.reader.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    await http.stop();
    const { tasks, faults } = await openStoredLogs(http.dataDir);
    expect(tasks.map(({ id }) => id).sort()).toEqual([...running, ...accepted].sort());
    expect(faults).toEqual([]);
  });

  it('the first write that finds it full gives up the ballast; a later look puts it back, and both are told', async () => {
    expect(hasBallast()).toBe(true);
    await fillDisk();
    talking = false;
    await waitFor('a refused create', async () => (await http.create({ background: true })).status === 507);
    expect([hasBallast(), http.store.ballast.state, states]).toEqual([false, 'given_up', ['given_up']]);
    await freeDisk();
    expect((await http.create({ background: true })).status, 'there is room on the disk').toBe(202);
    await http.app.get(StoreCare).look();
    expect([hasBallast(), states]).toEqual([true, ['given_up', 'kept']]);
  });
});
