import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceVersion } from '../../src/config/index.js';
import { Readiness } from '../../src/operations/index.js';
import { HttpApp } from '../support/http-app.js';

describe('the routes of operation (WIRE B2)', () => {
  let app: HttpApp;

  beforeAll(async () => {
    app = await HttpApp.start({ env: { LMSP_RETENTION_RESPONSES_SECONDS: '0', LMSP_MAX_ROWS: '4' } });
  });

  afterAll(() => app.close());

  it('answer /health and /ready without a token', async () => {
    const bodies = await Promise.all(['/health', '/ready'].map(async (path) => (await fetch(app.url + path)).json()));
    expect(bodies).toEqual([{ status: 'ok' }, { status: 'ready' }]);
  });

  it('tell what the service is, its limits and retention', async () => {
    const { status, body } = await app.call('GET', '/v1/service');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'service',
      id: expect.stringMatching(/^service_[0-9a-z]{26}$/),
      name: 'lmsp-service',
      version: serviceVersion(),
      lmsp_version: '1.0',
      incarnation: 1,
      degraded: [],
      limits: { max_rows: 4, max_body_bytes: 8_388_608, max_queued_tasks: 100_000 },
      retention: { responses_seconds: 0, tasks_seconds: 604_800, idempotency_seconds: 86_400 },
      on_restart: { default: 'resume', supported: ['fail', 'retry', 'resume'] },
    });
    expect(Number.isInteger(body.started_at)).toBe(true);
  });

  it('tell nothing about the service to a stranger', async () => {
    const response = await fetch(`${app.url}/v1/service`);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'missing_api_key' } });
  });
});

describe('a service that recovers (WIRE B6)', () => {
  it('shows no old state: every route but the probes is 503 service_recovering, then all are open', async () => {
    const app = await HttpApp.start();
    const readiness = app.app.get(Readiness, { strict: false });
    readiness.recovering(412, 900);
    const ready = await app.call('GET', '/ready');
    expect([ready.status, ready.body]).toEqual([503, { status: 'not_ready', reason: 'recovering 412 of 900' }]);
    expect((await app.call('GET', '/health')).status).toBe(200);
    const routes = ['/v1/tasks', '/v1/responses/resp_1', '/v1/models', '/v1/service', '/no/such/route'];
    for (const route of routes) expect(await refusal(app, 'GET', route)).toEqual([503, 'service_recovering', '1']);
    expect(await refusal(app, 'POST', '/v1/responses')).toEqual([503, 'service_recovering', '1']);
    readiness.ready();
    expect((await app.call('GET', '/v1/tasks')).status).toBe(200);
    await app.close();
  });
});

describe('service.json (OPERATE 1.2)', () => {
  it('names this run while the port is open, to its owner only, and is gone after a clean stop', async () => {
    const app = await HttpApp.start();
    const path = join(app.dataDir, 'service.json');
    const { started_at: startedAt } = (await app.call('GET', '/v1/service')).body;
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      url: app.url,
      pid: process.pid,
      instance_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      version: serviceVersion(),
      started_at: startedAt,
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await app.stop();
    expect(existsSync(path)).toBe(false);
    await app.close();
  });
});

async function refusal(app: HttpApp, method: string, path: string): Promise<[number, string, string | null]> {
  const { status, body, headers } = await app.call(method, path, method === 'POST' ? {} : undefined);
  return [status, body.error.code, headers.get('retry-after')];
}
