import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceVersion } from '../../src/config/index.js';
import { Notices, type NoticeTypes } from '../../src/notices/index.js';
import { Readiness } from '../../src/operations/index.js';
import { freePort } from '../support/free-port.js';
import { HttpApp } from '../support/http-app.js';
import { readPrometheusText } from '../support/prometheus-text.js';
import { scrapeOf, valueOf } from '../support/scrape.js';
import { waitFor } from '../support/wait-for.js';

let app: HttpApp;

beforeAll(async () => {
  app = await HttpApp.start();
});

afterAll(() => app.close());

const scrape = () => scrapeOf(app);

const transition: NoticeTypes['task.transition'] = {
  task_id: 'task_1',
  client_id: 'cli_1',
  type: 'response',
  model: 'pocket',
  background: true,
  on_restart: 'retry',
  command: 'recoverRetry',
  from: null,
  to: 'queued',
  attempt: 1,
  events: 1,
  waited_ms: null,
  duration_ms: null,
  error_code: null,
};

describe('GET /metrics (WIRE B2, OPERATE 3.2)', () => {
  it('is Prometheus text that a strict reader takes, and no JSON string', async () => {
    const response = await app.fetch('GET', '/metrics');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const families = readPrometheusText(await response.text());
    expect(valueOf(families, 'lmsp_ready')).toBe(1);
    expect(
      valueOf(families, 'lmsp_build_info', { version: serviceVersion(), node: process.version, engine: 'fake' }),
    ).toBe(1);
  });

  it('needs a token with the scope service:read', async () => {
    expect((await fetch(`${app.url}/metrics`)).status).toBe(401);
    const stranger = await app.addClient('responses:write');
    const refused = await app.fetch('GET', '/metrics', undefined, { Authorization: `Bearer ${stranger}` });
    expect(refused.status).toBe(403);
    const scraper = await app.addClient('service:read');
    const read = await app.fetch('GET', '/metrics', undefined, { Authorization: `Bearer ${scraper}` });
    expect(read.status).toBe(200);
    const families = await scrape();
    expect(valueOf(families, 'lmsp_auth_failures_total', { reason: 'missing_api_key' })).toBe(1);
    expect(valueOf(families, 'lmsp_auth_failures_total', { reason: 'insufficient_scope' })).toBe(1);
    expect(valueOf(families, 'lmsp_auth_failures_total', { reason: 'token_expired' })).toBe(0);
  });

  it('has the process and the delay of the event loop, without the misnamed gauges', async () => {
    const families = await scrape();
    expect(valueOf(families, 'process_start_time_seconds')).toBeGreaterThan(1_700_000_000);
    expect(valueOf(families, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    expect([...families.keys()].filter((name) => name.startsWith('nodejs_active'))).not.toContain(
      'nodejs_active_handles_total',
    );
  });

  it('follows a task from its accept to its end', async () => {
    app.engine.hold('steps');
    const accepted = await Promise.all(Array.from({ length: 11 }, () => app.accept()));
    const during = await waitFor('all rows to be taken', async () => {
      const families = await scrape();
      const [running, queued] = ['running', 'queued'].map((status) => valueOf(families, 'lmsp_tasks', { status }));
      return running === 8 && queued === 3 ? families : null;
    });
    expect(valueOf(during, 'lmsp_tasks', { status: 'cancelling' })).toBe(0);
    expect(valueOf(during, 'lmsp_queue_oldest_age_seconds', { model: 'pocket' })).toBeGreaterThanOrEqual(0);
    app.engine.release('steps');
    for (const { lmsp } of accepted) await app.task(lmsp.task_id, 'completed');
    await app.create();
    const after = await scrape();
    const kind = { type: 'response', model: 'pocket' };
    expect(valueOf(after, 'lmsp_tasks_accepted_total', { ...kind, mode: 'background' })).toBe(11);
    expect(valueOf(after, 'lmsp_tasks_accepted_total', { ...kind, mode: 'foreground' })).toBe(1);
    const ended = { ...kind, status: 'completed', error_code: 'none' };
    expect(valueOf(after, 'lmsp_tasks_finished_total', ended)).toBe(12);
    expect(valueOf(after, 'lmsp_task_queue_seconds_count', { model: 'pocket' })).toBe(12);
    expect(valueOf(after, 'lmsp_task_duration_seconds_count', { model: 'pocket', status: 'completed' })).toBe(12);
    expect(valueOf(after, 'lmsp_tasks', { status: 'queued' })).toBe(0);
    expect(valueOf(after, 'lmsp_queue_oldest_age_seconds')).toBeUndefined();
  });

  it('names routes by their pattern, and leaves streams out of the durations', async () => {
    const { id, lmsp } = await app.accept();
    await app.task(lmsp.task_id, 'completed');
    const before = await scrape();
    await app.call('GET', `/v1/responses/${id}`);
    await app.events(`/v1/responses/${id}?stream=true`);
    await app.call('GET', '/no/such/path');
    const after = await scrape();
    const risen = (name: string, labels: Record<string, string>) =>
      (valueOf(after, name, labels) ?? 0) - (valueOf(before, name, labels) ?? 0);
    const route = '/v1/responses/:id';
    expect(risen('lmsp_http_requests_total', { method: 'GET', route, status: '200' })).toBe(2);
    expect(risen('lmsp_http_request_duration_seconds_count', { method: 'GET', route })).toBe(1);
    expect(risen('lmsp_http_requests_total', { method: 'GET', route: 'unmatched', status: '404' })).toBe(1);
  });

  it('counts refusals by their code, and what a recovery did by policy', async () => {
    const notices = app.app.get(Notices);
    notices.emit('task.transition', transition);
    notices.emit('task.transition', { ...transition, command: 'recoverFail', on_restart: 'fail', to: 'failed' });
    const full = await HttpApp.start({ env: { LMSP_MAX_QUEUED_TASKS: '1', LMSP_MAX_ROWS: '0' } });
    await full.accept();
    expect((await full.create({ background: true })).status).toBe(429);
    expect(valueOf(await scrapeOf(full), 'lmsp_requests_rejected_total', { reason: 'queue_full' })).toBe(1);
    await full.close();
    notices.emit('task.snapshot_unusable', { task_id: 'task_1', reason: 'digest' });
    const families = await scrape();
    expect(valueOf(families, 'lmsp_snapshots_unusable_total', { reason: 'digest' })).toBe(1);
    expect(valueOf(families, 'lmsp_tasks_recovered_total', { policy: 'retry', outcome: 'requeued' })).toBe(1);
    expect(valueOf(families, 'lmsp_tasks_recovered_total', { policy: 'fail', outcome: 'failed' })).toBe(1);
    expect(valueOf(families, 'lmsp_tasks_recovered_total', { policy: 'resume', outcome: 'resumed' })).toBe(0);
    expect(valueOf(families, 'lmsp_recovery_duration_seconds')).toBeGreaterThanOrEqual(0);
  });

  it('counts repeats of a key by what they were told', async () => {
    const key = { 'Idempotency-Key': 'metrics-1' };
    for (let i = 0; i < 3; i++) await app.create({ background: true }, key);
    expect((await app.create({ background: true, input: 'other' }, key)).status).toBe(422);
    const families = await scrape();
    expect(valueOf(families, 'lmsp_idempotent_replays_total', { result: 'replayed' })).toBe(2);
    expect(valueOf(families, 'lmsp_idempotent_replays_total', { result: 'reused' })).toBe(1);
    expect(valueOf(families, 'lmsp_idempotent_replays_total', { result: 'in_progress' })).toBe(0);
  });

  it('has a bounded number of series: 10,000 names, routes and codes from outside add at most `other`', async () => {
    const notices = app.app.get(Notices);
    const flood = (i: number): void => {
      const name = `x${i}"\n\\`;
      notices.emit('http.request', {
        method: name,
        route: `/v1/${name}`,
        status: 1000 + i,
        duration_ms: 1,
        bytes: 1,
        stream: false,
        error_code: name,
        replayed: false,
        client_id: name,
        task_id: name,
      });
      const strange = { ...transition, task_id: name, type: name, model: name, on_restart: name, error_code: name };
      for (const command of ['enqueue', 'start', 'complete', 'recoverFail', name]) {
        notices.emit('task.transition', { ...strange, command, to: name, waited_ms: i, duration_ms: i });
      }
    };
    // The process's own have a series for each kind of garbage collection that came by so far.
    const series = async () =>
      [...(await scrape())]
        .filter(([name]) => name.startsWith('lmsp_'))
        .reduce((sum, [, { samples }]) => sum + samples.length, 0);
    flood(0);
    const first = await series();
    for (let i = 1; i <= 10_000; i++) flood(i);
    for (let i = 0; i < 50; i++) {
      await app.create({ model: `no-model-${i}` });
      await app.call('GET', `/v1/responses/resp_${i}`);
      await app.call('GET', `/path/${i}`, undefined, { Authorization: `Bearer lmsp_${i}` });
    }
    // The real requests are of two routes that were not told of before.
    expect((await series()) - first).toBeLessThan(60);
    const again = await series();
    for (let i = 0; i < 50; i++) await app.create({ model: `no-model-${i}` });
    expect(await series()).toBe(again);
  });

  it('is refused like every route while the service recovers (WIRE B6)', async () => {
    const recovering = await HttpApp.start();
    recovering.app.get(Readiness, { strict: false }).recovering(1, 2);
    expect((await recovering.call('GET', '/metrics')).status).toBe(503);
    await recovering.close();
  });
});

describe('the listener of LMSP_METRICS_PORT (OPERATE 3.2)', () => {
  /** Node's fetch lets nobody choose the Host header. */
  const asHost = (port: number, host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request({ port, host: '127.0.0.1', path: '/metrics', headers: { Host: host } }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      })
        .once('error', reject)
        .end();
    });

  it('serves /metrics on loopback without a token, and nothing else', async () => {
    const port = await freePort();
    const open = await HttpApp.start({ env: { LMSP_METRICS_PORT: String(port) } });
    try {
      const base = `http://127.0.0.1:${port}`;
      const response = await fetch(`${base}/metrics`);
      expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(readPrometheusText(await response.text()).has('lmsp_ready')).toBe(true);
      expect((await fetch(`${base}/v1/tasks`)).status).toBe(404);
      expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).toBe(405);
      expect(await asHost(port, `localhost:${port}`)).toBe(200);
      for (const host of ['evil.example', `127.0.0.1.evil.example:${port}`, 'evil.example:80']) {
        expect(await asHost(port, host)).toBe(403);
      }
    } finally {
      await open.close();
    }
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow();
  });
});
