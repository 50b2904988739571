import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { RawConnection } from '../support/raw-connection.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ env: { LMSP_WRONG_TOKENS_PER_MINUTE: '0' } });
});
afterAll(() => http.close());

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const ROUTES: [method: string, path: string][] = [
  ['GET', '/v1/service'],
  ['GET', '/v1/clients'],
  ['POST', '/v1/clients'],
  ['GET', '/v1/clients/x'],
  ['PATCH', '/v1/clients/x'],
  ['DELETE', '/v1/clients/x'],
  ['POST', '/v1/clients/x/rotate'],
  ['GET', '/v1/audit'],
  ['POST', '/v1/service/stop'],
  ['GET', '/v1/models'],
  ['GET', '/v1/models/pocket'],
  ['POST', '/v1/models/load'],
  ['POST', '/v1/models/unload'],
  ['POST', '/v1/responses'],
  ['GET', '/v1/responses/x'],
  ['DELETE', '/v1/responses/x'],
  ['POST', '/v1/responses/x/cancel'],
  ['GET', '/v1/responses/x/input_items'],
  ['GET', '/v1/tasks'],
  ['GET', '/v1/tasks/x'],
  ['GET', '/v1/tasks/x/events'],
  ['POST', '/v1/tasks/x/cancel'],
];

describe('who may do what (WIRE B1, B8)', () => {
  it.each(ROUTES)('%s %s needs a token, a valid one, and one with the scope', async (method, path) => {
    const none = await fetch(`${http.url}${path}`, { method });
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="lmsp"']);
    const wrong = await http.call(method, path, undefined, bearer('lmsp_wrong'));
    expect([wrong.status, wrong.body.error.code]).toEqual([401, 'invalid_api_key']);
    const weak = await http.call(method, path, undefined, bearer(await http.addClient('embeddings:write')));
    expect([weak.status, weak.body.error.code, weak.body.error.type]).toEqual([
      403,
      'insufficient_scope',
      'permission_error',
    ]);
    expect(weak.headers.get('www-authenticate')).toMatch(/error="insufficient_scope", scope="[a-z]+:[a-z]+"$/);
  });

  it('refuses a stranger before reading the body', async () => {
    const stranger = await RawConnection.open(http.port);
    stranger.send(
      'POST /v1/responses HTTP/1.1',
      'Host: localhost',
      'Content-Type: text/plain',
      'Content-Length: 5000',
      '',
      '',
    );
    expect(await stranger.receives('missing_api_key')).toMatch(/^HTTP\/1.1 401/);
    stranger.cut();
  });

  it('lets everybody ask whether the service lives', async () => {
    for (const path of ['/health', '/ready']) expect((await fetch(`${http.url}${path}`)).status).toBe(200);
  });
});

describe("another client's work (WIRE B0, CASES BL-39)", () => {
  it('is as absent as what never was, and the attempt has no effect', async () => {
    http.engine.hold('steps');
    const mine = await http.accept();
    await http.task(mine.lmsp.task_id, 'running');
    const other = bearer(await http.addClient('responses:read', 'responses:write', 'tasks:read', 'tasks:cancel'));
    const tries: [string, string, Record<string, string>?][] = [
      ['GET', '/v1/responses/ID'],
      ['GET', '/v1/responses/ID?stream=true'],
      ['GET', '/v1/responses/ID/input_items'],
      ['POST', '/v1/responses/ID/cancel'],
      ['DELETE', '/v1/responses/ID'],
      ['GET', '/v1/tasks/TASK'],
      ['GET', '/v1/tasks/TASK/events'],
      ['GET', '/v1/tasks/TASK/events', { Accept: 'text/event-stream' }],
      ['POST', '/v1/tasks/TASK/cancel'],
    ];
    for (const [method, path, headers] of tries) {
      const ask = async (id: string, task: string) => {
        const url = path.replace('ID', id).replace('TASK', task);
        const { status, body } = await http.call(method, url, undefined, { ...headers, ...other });
        return JSON.stringify([status, body]).replaceAll(id, 'ID').replaceAll(task, 'TASK');
      };
      expect(await ask(mine.id, mine.lmsp.task_id)).toBe(await ask('resp_nobody', 'task_nobody'));
    }
    expect((await http.call('GET', '/v1/tasks', undefined, other)).body.data).toEqual([]);
    const stranger = await http.call('GET', `/v1/tasks?after=${mine.lmsp.task_id}`, undefined, other);
    expect(stranger.body.error.code).toBe('invalid_cursor');
    http.engine.release('steps');
    await http.task(mine.lmsp.task_id, 'completed');
  });

  it('is not found by another spelling of the id either', async () => {
    const { id } = await http.accept();
    for (const spelling of [id.toUpperCase(), `${id}%20`, `%00${id}`]) {
      expect((await http.call('GET', `/v1/responses/${spelling}`)).status).toBe(404);
    }
    expect((await http.call('GET', `/v1/responses/${id}/`)).body.id).toBe(id);
  });
});
