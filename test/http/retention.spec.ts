import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RetentionRules, RetentionRunner } from '../../src/retention/index.js';
import { HttpApp, type Answer } from '../support/http-app.js';
import { RawConnection } from '../support/raw-connection.js';
import { insertTask } from '../support/store.js';
import { deferred } from '../support/task-lab.js';
import { waitFor } from '../support/wait-for.js';

const DAY = 86_400_000;

interface Ended {
  id: string;
  taskId: string;
}

/** An ended response, ready to be aged. */
async function ended(app: HttpApp): Promise<Ended> {
  const { id, lmsp } = await app.accept();
  await app.task(lmsp.task_id, 'completed');
  return { id, taskId: lmsp.task_id };
}

/** As if the task, or with `responses` the response as well, had ended so many days before. */
async function age(app: HttpApp, taskId: string, days: number, responses = false): Promise<void> {
  const at = Date.now() - days * DAY;
  await app.store.units.run(async (tx) => {
    await tx.execute('UPDATE tasks SET finished_at = ? WHERE id = ?', [at, taskId]);
    if (responses)
      await tx.execute(`UPDATE responses SET finished_at = ? WHERE id = ?`, [at, `resp_${taskId.slice(5)}`]);
  });
}

const run = (app: HttpApp, body?: object) => app.call('POST', '/v1/service/retention/run', body);
const outcome = ({ body }: Answer, kind = 'tasks') => body.data.find((each: { kind: string }) => each.kind === kind);
const code = async (answer: Promise<{ status: number; body: { error: { code: string } } }>) => {
  const { status, body } = await answer;
  return [status, body.error.code];
};

/** A service whose run at the start has ended. */
async function startApp(env: Record<string, string> = {}): Promise<HttpApp> {
  const started = await HttpApp.start({ env });
  await waitFor('the run at the start', () => started.app.get(RetentionRunner, { strict: false }).lastRun);
  return started;
}

let app: HttpApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe('the routes of retention (WIRE B2, OPERATE 5.7)', () => {
  it('tell per kind what is kept and what goes, and when', async () => {
    const { taskId } = await ended(app);
    await age(app, taskId, 8);
    const { status, body } = await app.call('GET', '/v1/service/retention');
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'service.retention', running: false, held_seconds: 0 });
    expect(body.next_run_at % 3600).toBe(0);
    expect(body.file.bytes).toBeGreaterThan(body.file.free_bytes);
    const kinds = body.data.map(({ kind }: { kind: string }) => kind).sort();
    expect(kinds).toEqual(['audit', 'idempotency_keys', 'pairings', 'responses', 'tasks']);
    const tasks = body.data.find(({ kind }: { kind: string }) => kind === 'tasks');
    expect(tasks).toMatchObject({
      rule: { keep_seconds: 604_800, counts_from: 'finished_at' },
      rows: 1,
      due: 1,
      blocked: [{ reason: 'unfinished', rows: 0 }],
      last_run: { removed: 0, failed: false },
    });
    expect(Math.abs(tasks.oldest_at - (Date.now() - 8 * DAY) / 1000)).toBeLessThan(60);
  });

  it('a dry run tells what a run would take and takes nothing', async () => {
    const dry = await run(app, { dry_run: true });
    expect([dry.status, dry.body.object, dry.body.dry_run]).toEqual([200, 'service.retention.run', true]);
    expect(outcome(dry)).toEqual({ kind: 'tasks', removed: 1, rows: null, batches: null, failed: false });
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(1);
    const real = await run(app);
    expect([real.status, real.body.dry_run, real.body.held, real.body.interrupted]).toEqual([200, false, false, false]);
    const rows = expect.any(Number);
    expect(outcome(real)).toEqual({ kind: 'tasks', removed: 1, rows, batches: 3, failed: false });
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(0);
  });

  it('refuse a body that is no such wish', async () => {
    expect(await code(run(app, { dry_run: 'yes' }))).toEqual([400, 'invalid_type']);
  });

  it.each([
    ['GET', '/v1/service/retention', 'operator:read'],
    ['POST', '/v1/service/retention/run', 'operator:manage'],
  ] as const)('%s %s needs %s', async (method, path, scope) => {
    const [reader, other] = [await app.addClient(scope), await app.addClient('service:read', 'tasks:read')];
    const as = (token: string) => app.call(method, path, undefined, { Authorization: `Bearer ${token}` });
    expect((await as(reader)).status).toBe(200);
    expect(await code(as(other))).toEqual([403, 'insufficient_scope']);
  });

  it('answer a second run at the same time with 409, which no client repeats', async () => {
    const [reached, gate] = [deferred(), deferred()];
    app.app.get(RetentionRules, { strict: false }).register({
      kind: 'slow',
      keepSeconds: 1,
      countsFrom: 'created_at',
      survey: async () => ({ rows: 0, oldestAt: null, due: 0, blocked: [], bytes: 0 }),
      step: async () => {
        reached.resolve();
        await gate.promise;
        return { removed: 0, rows: 0, next: null };
      },
    });
    const first = run(app);
    await reached.promise;
    const second = await run(app);
    expect([second.status, second.body.error.code]).toEqual([409, 'retention_in_progress']);
    expect(second.headers.get('x-should-retry')).toBe('false');
    expect((await app.call('GET', '/v1/service/retention')).body.running).toBe(true);
    expect((await run(app, { dry_run: true })).status).toBe(200);
    gate.resolve();
    expect((await first).status).toBe(200);
  });

  it('show a rule that failed as a degradation of the service', async () => {
    const broken = async (): Promise<never> => Promise.reject(new Error('broken'));
    const survey = async () => ({ rows: 0, oldestAt: null, due: 0, blocked: [], bytes: 0 });
    app.app
      .get(RetentionRules, { strict: false })
      .register({ kind: 'broken', keepSeconds: 1, countsFrom: 'created_at', survey, step: broken });
    expect((await run(app)).body.data).toContainEqual(expect.objectContaining({ kind: 'broken', failed: true }));
    expect((await app.call('GET', '/v1/service')).body.degraded).toEqual(['retention:broken:failed']);
  });
});

describe('what a client sees of retention (WIRE B6, B9)', () => {
  const views = ({ id, taskId }: Ended) => ({
    page: app.call('GET', `/v1/tasks/${taskId}/events`),
    stream: app.call('GET', `/v1/tasks/${taskId}/events`, undefined, { Accept: 'text/event-stream' }),
    resumed: app.call('GET', `/v1/responses/${id}?stream=true&starting_after=1`),
  });

  it('from the mark on the events are 410 event_log_expired by every route; task and response are there', async () => {
    const both = await ended(app);
    await app.store.units.run((tx) => tx.execute('UPDATE tasks SET events_expired_at = 1 WHERE id = ?', [both.taskId]));
    for (const answer of Object.values(views(both))) expect(await code(answer)).toEqual([410, 'event_log_expired']);
    expect((await app.call('GET', `/v1/tasks/${both.taskId}`)).body.status).toBe('completed');
    expect((await app.call('GET', `/v1/responses/${both.id}`)).body.status).toBe('completed');
  });

  it('a response outlives its task: its text is there, its stream is 410, its task 404', async () => {
    const both = await ended(app);
    const before = (await app.call('GET', `/v1/responses/${both.id}`)).body;
    await age(app, both.taskId, 8);
    await run(app);
    const { page, stream, resumed } = views(both);
    expect(await code(resumed)).toEqual([410, 'event_log_expired']);
    expect(await code(page)).toEqual([404, 'task_not_found']);
    expect(await code(stream)).toEqual([404, 'task_not_found']);
    expect((await app.call('GET', `/v1/responses/${both.id}`)).body).toEqual(before);
    expect((await app.call('GET', `/v1/responses/${both.id}/input_items`)).body.data).toHaveLength(1);
    expect(await code(app.call('POST', `/v1/responses/${both.id}/cancel`))).toEqual([400, 'response_not_cancellable']);
    expect((await app.call('DELETE', `/v1/responses/${both.id}`)).status).toBe(200);
  });

  it('after its own time the response is 404', async () => {
    const both = await ended(app);
    await age(app, both.taskId, 31, true);
    await run(app);
    expect(await code(app.call('GET', `/v1/responses/${both.id}`))).toEqual([404, 'response_not_found']);
  });
});

/** An ended task of the owner with more in its log than sockets hold. */
async function longLog(app: HttpApp, id: string): Promise<void> {
  const last = 59;
  await app.store.units.run(async (tx) => {
    const [owner] = await tx.query<{ id: string }>('select id from clients where owner = 1');
    const ended = { status: 'completed', finished_at: Date.now(), last_sequence_number: last };
    await insertTask(tx, { id, client_id: owner?.id, ...ended });
    await tx.execute(
      `INSERT INTO task_events (task_id, sequence_number, type, payload, created_at)
       SELECT ?, value, iif(value = ?, 'response.completed', 'response.in_progress'),
         json_object('text', printf('%.*c', 400000, 'x')), 1 FROM json_each(?)`,
      [id, last, JSON.stringify(Array.from({ length: last + 1 }, (_, i) => i))],
    );
  });
}

it('a log that goes below a reader closes its stream bare, and the reader learns by coming back', async () => {
  const small = await startApp({ LMSP_EVENT_PAGE_SIZE: '4', LMSP_RETENTION_BATCH_EVENTS: '5' });
  await longLog(small, 'task_long');
  const path = '/v1/tasks/task_long/events';
  const reader = await RawConnection.open(small.port);
  const head = [`GET ${path} HTTP/1.1`, 'Host: localhost', 'Accept: text/event-stream'];
  reader.send(...head, `Authorization: Bearer ${small.token}`, '', '');
  await reader.receives('id: 1\n');
  reader.socket.pause();
  await age(small, 'task_long', 8);
  expect(outcome(await run(small))).toMatchObject({ removed: 1, failed: false });
  reader.socket.resume();
  const received = await reader.ends();
  const numbers = [...received.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
  expect(numbers).toEqual(numbers.map((_, i) => i));
  expect(numbers.length).toBeLessThan(60);
  // Not even the last chunk of the HTTP answer: to the reader this is a broken connection.
  expect(received).not.toContain('response.completed');
  expect(received.endsWith('0\r\n\r\n')).toBe(false);
  expect(small.faults).toEqual([]);
  expect(await code(small.call('GET', path))).toEqual([404, 'task_not_found']);
  await small.close();
});
