import { afterEach, describe, expect, it } from 'vitest';
import { FakeEngine } from '../support/fake-engine.js';
import { ForeignWriter } from '../support/foreign-writer.js';
import { HttpApp, type Answer } from '../support/http-app.js';
import { openStoredLogs } from '../support/stored-logs.js';
import { temporaryDirectory } from '../support/store.js';
import { waitFor } from '../support/wait-for.js';

/** Steps a row may be ahead of the disk (HOUSE 4.8). */
const STEP_WINDOW = 32;

let http: HttpApp;
let stranger: ForeignWriter;
/** The first generation goes on while this holds, the others end with `finished` at the latest. */
let talking: boolean;
let finished: boolean;

async function start(env: Record<string, string> = {}): Promise<void> {
  talking = true;
  finished = false;
  let generations = 0;
  const engine = new FakeEngine({
    stepDelayMs: 1,
    *tokens() {
      const first = generations++ === 0;
      while (talking && (first || !finished)) yield 'word ';
    },
  });
  http = await HttpApp.start({ env: { LMSP_MAX_ROWS: '1', ...env }, engine, dataDir: await temporaryDirectory() });
  stranger = new ForeignWriter(http.store.file);
}

afterEach(async () => {
  await stranger.end();
  await http.close();
});

/** A generation that goes on until `talking` ends, and has said something. */
async function speaking(): Promise<string> {
  const { lmsp } = await http.accept();
  await waitFor('its first words', async () => (await stored(lmsp.task_id)) > 0);
  return lmsp.task_id;
}

/** Deltas of the task on disk. */
async function stored(taskId: string): Promise<number> {
  const [row] = await http.store.reader.query<{ n: number }>(
    `select count(*) as n from task_events where task_id = ? and type = 'response.output_text.delta'`,
    [taskId],
  );
  return row?.n ?? 0;
}

async function outputTokens(taskId: string): Promise<number> {
  return (await http.call('GET', `/v1/tasks/${taskId}`)).body.progress.output_tokens as number;
}

const times = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));

const statuses = (answers: Answer[]): number[] => [...new Set(answers.map(({ status }) => status))];

/** Stops, and looks at every log in the file. */
async function storedAfterStop(): Promise<Record<string, string>> {
  await http.stop();
  const { tasks, faults } = await openStoredLogs(http.dataDir);
  expect(faults).toEqual([]);
  return Object.fromEntries(tasks.map(({ id, status }) => [id, status]));
}

describe('another process that locks the database (CASES BL-13)', { timeout: 120_000 }, () => {
  it('for 3 seconds: 20 creates and 10 cancels during a generation wait, and all succeed', async () => {
    await start();
    const speaker = await speaking();
    const waiting = await times(10, () => http.accept());
    await stranger.lock();
    const created = times(20, () => http.create({ background: true }));
    const cancelled = Promise.all(waiting.map(({ lmsp }) => http.call('POST', `/v1/tasks/${lmsp.task_id}/cancel`)));
    await waitFor('units that have waited 3 seconds', () => http.store.units.oldestWaitMs() > 3000);
    await stranger.release();
    expect(statuses(await created)).toEqual([202]);
    expect((await cancelled).map(({ body }) => body.status)).toEqual(Array(10).fill('cancelled'));
    talking = false;
    await http.task(speaker, 'completed');
    for (const { body } of await created) await http.task(body.lmsp.task_id, 'completed');
    const ends = Object.values(await storedAfterStop());
    expect([ends.length, ends.filter((status) => status === 'cancelled').length]).toEqual([31, 10]);
  });

  it('again and again, with small commits: nothing fails', async () => {
    await start();
    const speaker = await speaking();
    await stranger.churn();
    const before = await stranger.rest();
    await stranger.churn();
    const answers: Answer[] = [];
    let rounds = 0;
    let commits = 0;
    // Ten, and on until the stranger has had its turns: the units of the service leave it few.
    for (; rounds < 100 && (rounds < 10 || commits <= 10); rounds += 1) {
      const created = await times(10, () => http.create({ background: true }));
      const cancelled = await times(5, (i) => http.call('POST', `/v1/tasks/${created[i]!.body.lmsp.task_id}/cancel`));
      expect(statuses(created)).toEqual([202]);
      answers.push(...cancelled);
      commits = (await stranger.rest()) - before;
      await stranger.churn();
    }
    await stranger.rest();
    expect(commits, 'commits of the stranger meanwhile').toBeGreaterThan(10);
    expect(statuses(answers)).toEqual([200]);
    talking = false;
    await http.task(speaker, 'completed');
    const ends = Object.values(await storedAfterStop());
    expect(ends.length).toBe(1 + 10 * rounds);
  });
});

describe('a lock that is held longer than LMSP_BUSY_TIMEOUT_MS (CASES BL-13)', { timeout: 120_000 }, () => {
  it('refuses writes with 503 storage_busy and Retry-After, nothing half written; a generation survives it', async () => {
    await start({ LMSP_BUSY_TIMEOUT_MS: '200' });
    const speaker = await speaking();
    const { lmsp: waiting } = await http.accept();
    await stranger.lock();
    const [created, cancelled] = await Promise.all([
      times(20, () => http.create({ background: true })),
      http.call('POST', `/v1/tasks/${waiting.task_id}/cancel`),
    ]);
    for (const { status, headers, body } of [...created, cancelled]) {
      expect([status, body.error.code, body.error.type]).toEqual([503, 'storage_busy', 'server_error']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await http.call('GET', '/health')).status).toBe(200);
    const onDisk = await stored(speaker);
    // A delta may hold several words that came at once, so that more words than deltas are on disk.
    const ahead = async () => (await outputTokens(speaker)) - onDisk;
    await waitFor('the row to stop', async () => (await ahead()) >= STEP_WINDOW);
    expect(await ahead()).toBeLessThan(2 * STEP_WINDOW);
    expect(await stored(speaker)).toBe(onDisk);
    await stranger.release();
    await waitFor('more words', async () => (await stored(speaker)) > onDisk + STEP_WINDOW);
    expect((await http.call('GET', `/v1/tasks/${waiting.task_id}`)).body.status).toBe('queued');
    expect((await http.create({ background: true })).status).toBe(202);
    talking = false;
    await http.task(speaker, 'completed');
    const ends = Object.values(await storedAfterStop());
    expect(ends.length, 'none of those that were refused').toBe(3);
  });

  it('and LMSP_STORAGE_WAIT_SECONDS: row 8 with storage_busy, but a whole answer is completed (HOUSE 4.8)', async () => {
    await start({ LMSP_BUSY_TIMEOUT_MS: '200', LMSP_STORAGE_WAIT_SECONDS: '1', LMSP_MAX_ROWS: '2' });
    let retries = 0;
    http.notices.on('storage.retry', () => void (retries += 1));
    const speaker = await speaking();
    const finishing = await speaking();
    http.engine.hold('steps');
    await stranger.lock();
    finished = true;
    http.engine.release('steps');
    // The end of the whole answer, and that of the other, whose steps have been refused by then.
    await waitFor('retries of both ends', () => retries >= 8);
    await stranger.release();
    expect(await http.task(speaker, 'failed')).toMatchObject({ error: { code: 'storage_busy' } });
    expect(await http.task(finishing, 'completed')).toMatchObject({ error: null });
    expect(Object.values(await storedAfterStop()).sort()).toEqual(['completed', 'failed']);
  });
});
