import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../src/clients/index.js';
import { HttpApp } from '../support/http-app.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

const as = async (...scopes: Scope[]) => ({ Authorization: `Bearer ${await http.addClient(...scopes)}` });

describe("every client's tasks (WIRE B1, B2)", () => {
  it('are listed with operator:read and all_clients=true, without what their clients wrote', async () => {
    const { lmsp } = await http.accept({ metadata: { secret: 'x' } });
    await http.task(lmsp.task_id, 'completed');
    const list = async (query: string, scope: Scope) =>
      http.call('GET', `/v1/tasks${query}`, undefined, await as(scope));
    const { status, body } = await list('?all_clients=true', 'operator:read');
    expect(status).toBe(200);
    expect(body.data).toMatchObject([{ id: lmsp.task_id, metadata: {}, result: null }]);
    expect((await list('', 'operator:read')).body.error.code).toBe('insufficient_scope');
    expect((await list('?all_clients=true', 'tasks:read')).body.error.code).toBe('insufficient_scope');
    expect((await list('', 'tasks:read')).body.data).toEqual([]);
  });

  it('are cancelled with operator:manage, on record; tasks:cancel finds them not', async () => {
    http.engine.hold('steps');
    const { lmsp } = await http.accept({ metadata: { secret: 'x' } });
    await http.task(lmsp.task_id, 'running');
    const path = `/v1/tasks/${lmsp.task_id}/cancel`;
    expect((await http.call('POST', path, undefined, await as('tasks:cancel'))).status).toBe(404);
    const cancelled = await http.call('POST', path, undefined, await as('operator:manage'));
    http.engine.release('steps');
    expect(cancelled.body).toMatchObject({ id: lmsp.task_id, metadata: {} });
    const { data } = (await http.call('GET', '/v1/audit?action=task.cancelled')).body;
    expect(data).toMatchObject([{ target: lmsp.task_id, outcome: 'done' }]);
  });
});
