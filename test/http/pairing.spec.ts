import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { HttpApp } from '../support/http-app.js';
import { DEVICE_CODE_GRANT, PairingProgram } from '../support/pairing.js';

let http: HttpApp;
let app: PairingProgram;
const clock = new FakeClock();
const DEFAULT = 'models:read responses:read responses:write embeddings:write tasks:read tasks:cancel';

beforeAll(async () => {
  http = await HttpApp.start({
    clock,
    env: { LMSP_WRONG_TOKENS_PER_MINUTE: '0', LMSP_PAIRINGS_PER_MINUTE: '0', LMSP_MAX_PENDING_PAIRINGS: '1000' },
  });
});
afterAll(() => http.close());
beforeEach(() => {
  app = new PairingProgram(http);
});

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('pairing (WIRE B8, RFC 8628)', () => {
  it('step 1: gives codes that are bound in time, and stores none of them', async () => {
    const { status, headers, body } = await app.ask();
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/),
      verification_uri: `${http.url}/pair`,
      verification_uri_complete: `${http.url}/pair?user_code=${body.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    const rows = JSON.stringify(await http.store.reader.query('select * from pairings'));
    expect(rows).not.toContain(body.device_code);
    expect(rows).not.toContain(body.user_code);
  });

  it('steps 1 to 5: the owner sees who asks for what, approves, and the program has a token', async () => {
    await app.ask({ client_name: 'Notes', scope: 'tasks:read models:read' });
    const { data } = (await http.call('GET', '/v1/pairings')).body;
    expect(data.at(-1)).toMatchObject({
      object: 'pairing',
      user_code: app.codes.user_code,
      client_name: 'Notes',
      software: 'notes-app',
      scopes: ['tasks:read', 'models:read'],
      status: 'pending',
      address: '127.0.0.1',
    });
    const approved = await app.decide('approve');
    expect([approved.status, approved.body.status]).toEqual([200, 'approved']);
    const { status, headers, body } = await app.poll();
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^lmsp_/),
      token_type: 'Bearer',
      scope: 'tasks:read models:read',
      client_id: expect.stringMatching(/^cli_/),
    });
    const me = await http.call('GET', '/v1/clients/me', undefined, bearer(body.access_token));
    expect(me.body).toMatchObject({ id: body.client_id, name: 'Notes', scopes: ['tasks:read', 'models:read'] });
    expect((await app.poll()).body.error).toBe('invalid_grant');
  });

  it('takes JSON too, and the usual scopes where none are named', async () => {
    const { status, body } = await http.call('POST', '/oauth/device_authorization', { client_id: 'json-app' });
    expect(status).toBe(200);
    await http.call('POST', `/v1/pairings/${body.user_code.toLowerCase().replace('-', '')}/approve`);
    const fields = { grant_type: DEVICE_CODE_GRANT, client_id: 'json-app', device_code: body.device_code };
    expect((await http.call('POST', '/oauth/token', fields)).body.scope).toBe(DEFAULT);
  });

  it('one code is one token, also under 20 parallel polls', async () => {
    await app.ask();
    await app.decide('approve');
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.poll()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, body } of answers.filter((each) => each.status !== 200)) {
      expect([status, body.error]).toEqual([400, 'invalid_grant']);
    }
    const rows = await http.store.reader.query(
      `select 1 from clients where name = 'notes-app' and created_by is not null`,
    );
    const consumed = await http.store.reader.query(
      `select 1 from pairings where software = 'notes-app' and status = 'consumed'`,
    );
    expect(rows.length).toBe(consumed.length - 1);
  });

  it('a poll that is too fast adds five seconds, and they are kept', async () => {
    await app.ask();
    const poll = async () => (await app.poll()).body.error as string;
    expect(await poll()).toBe('authorization_pending');
    expect(await poll()).toBe('slow_down');
    clock.run(5000);
    expect(await poll()).toBe('slow_down');
    clock.run(15_000);
    expect(await poll()).toBe('authorization_pending');
    clock.run(14_000);
    expect(await poll()).toBe('slow_down');
  });

  it('expires after ten minutes, asked or approved', async () => {
    await app.ask();
    const late = new PairingProgram(http, 'late');
    await late.ask();
    await late.decide('approve');
    clock.run(600_000);
    expect((await app.poll()).body.error).toBe('expired_token');
    expect((await late.poll()).body.error).toBe('expired_token');
    expect((await app.decide('approve')).body.error.code).toBe('pairing_not_found');
    expect((await http.call('GET', '/v1/pairings')).body.data).toEqual([]);
  });

  it('is narrowed, never widened; privileged scopes are granted only where they are named', async () => {
    await app.ask({ scope: 'tasks:read models:read clients:manage' });
    expect((await app.decide('approve', { scopes: ['tasks:read', 'service:read'] })).body.error).toMatchObject({
      code: 'invalid_value',
      param: 'scopes',
    });
    expect((await app.decide('approve', { scopes: ['tasks:read'] })).body.scopes).toEqual(['tasks:read']);
    expect((await app.poll()).body.scope).toBe('tasks:read');
    await app.paired({ scope: 'tasks:read clients:manage' });
    const named = await app.paired({ scope: 'tasks:read clients:manage' }, { scopes: ['clients:manage'] });
    expect(named).toMatchObject({ scope: 'clients:manage' });
    await app.ask({ scope: 'operator:read' });
    expect((await app.decide('approve')).body.error.param).toBe('scopes');
  });

  it('is approved within the own scopes only', async () => {
    const manager = await http.addClient('clients:manage', 'tasks:read');
    await app.ask({ scope: 'tasks:read models:read' });
    const refused = await app.decide('approve', {}, manager);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope']);
    expect((await app.decide('approve', { scopes: ['tasks:read'] }, manager)).status).toBe(200);
  });

  it('counts no more when the approver was revoked meanwhile', async () => {
    const made = await http.call('POST', '/v1/clients', { name: 'm', scopes: ['clients:manage', 'tasks:read'] });
    await app.ask({ scope: 'tasks:read' });
    await app.decide('approve', {}, made.body.token);
    await http.call('DELETE', `/v1/clients/${made.body.id}`);
    expect((await app.poll()).body.error).toBe('access_denied');
  });

  it('denied is denied, and a decision is made once', async () => {
    await app.ask();
    expect((await app.decide('deny')).body.status).toBe('denied');
    expect((await app.poll()).body.error).toBe('access_denied');
    const again = await app.decide('approve');
    expect([again.status, again.body.error.code]).toEqual([409, 'pairing_decided']);
    expect(again.headers.get('x-should-retry')).toBe('false');
  });

  it('gives a token that ends by itself where the owner says so', async () => {
    const granted = await app.paired({}, { token_expires_in: 3600, name: 'Renamed' });
    expect(granted).toMatchObject({ expires_in: 3600 });
    const { body } = await http.call('GET', `/v1/clients/${granted.client_id}`);
    expect(body).toMatchObject({ name: 'Renamed', expires_at: body.created_at + 3600 });
    await http.store.units.run((tx) => tx.execute('UPDATE clients SET expires_at = 1 WHERE id = ?', [body.id]));
    const me = await http.call('GET', '/v1/clients/me', undefined, bearer(granted.access_token));
    expect([me.status, me.body.error.code]).toEqual([401, 'token_expired']);
  });

  it('belongs to the program that asked', async () => {
    await app.ask();
    await app.decide('approve');
    expect((await app.poll({ client_id: 'another' })).body.error).toBe('invalid_grant');
    expect((await app.poll()).status).toBe(200);
  });
});

describe('errors of /oauth (RFC 6749 5.2)', () => {
  it.each([
    ['/oauth/device_authorization', {}, 'invalid_request'],
    ['/oauth/device_authorization', { client_id: 'x', scope: 'tasks:all' }, 'invalid_scope'],
    ['/oauth/device_authorization', { client_id: 'x'.repeat(65) }, 'invalid_request'],
    ['/oauth/token', { grant_type: 'password', device_code: 'x', client_id: 'x' }, 'unsupported_grant_type'],
    ['/oauth/token', { grant_type: DEVICE_CODE_GRANT, client_id: 'x' }, 'invalid_request'],
    ['/oauth/token', { grant_type: DEVICE_CODE_GRANT, client_id: 'x', device_code: 'x' }, 'invalid_grant'],
    ['/oauth/revoke', {}, 'invalid_request'],
  ] as [string, Record<string, string>, string][])('%s %j: %s', async (path, fields, error) => {
    const { status, body } = await app.form(path, fields);
    expect([status, body]).toEqual([400, { error, error_description: expect.any(String) }]);
  });

  it('a field that is given twice, a body too large or of another type is refused', async () => {
    const post = async (body: string, type = 'application/x-www-form-urlencoded') => {
      const response = await fetch(`${http.url}/oauth/revoke`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': type },
      });
      return [response.status, ((await response.json()) as { error: string }).error];
    };
    expect(await post('token=a&token=b')).toEqual([400, 'invalid_request']);
    expect(await post(`token=${'a'.repeat(20_000)}`)).toEqual([413, 'invalid_request']);
    expect(await post('token=a', 'text/plain')).toEqual([415, 'invalid_request']);
  });
});

describe('POST /oauth/revoke (RFC 7009)', () => {
  it('ends the token, and answers 200 for what is none', async () => {
    const { access_token: token } = await app.paired();
    expect((await app.form('/oauth/revoke', { token })).status).toBe(200);
    expect((await http.call('GET', '/v1/clients/me', undefined, bearer(token))).status).toBe(401);
    expect((await app.form('/oauth/revoke', { token })).status).toBe(200);
    expect((await app.form('/oauth/revoke', { token: 'nothing' })).status).toBe(200);
  });

  it("the last owner's is refused", async () => {
    const { status, body } = await app.form('/oauth/revoke', { token: http.token });
    expect([status, body.error]).toEqual([400, 'unsupported_token_type']);
  });
});

describe('what tells of it', () => {
  it('GET /.well-known/oauth-authorization-server (RFC 8414)', async () => {
    const body = (await (await fetch(`${http.url}/.well-known/oauth-authorization-server`)).json()) as object;
    expect(body).toMatchObject({
      issuer: http.url,
      token_endpoint: `${http.url}/oauth/token`,
      device_authorization_endpoint: `${http.url}/oauth/device_authorization`,
      revocation_endpoint: `${http.url}/oauth/revoke`,
      grant_types_supported: [DEVICE_CODE_GRANT],
    });
  });

  it('GET /pair: a page without scripts that shows a code and nothing else it was given', async () => {
    const page = await fetch(`${http.url}/pair?user_code=wdjbmjht`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    const text = await page.text();
    expect(text).toContain('lmsp pair approve WDJB-MJHT');
    expect(text).not.toContain('<script');
    expect(await (await fetch(`${http.url}/pair?user_code=<script>x`)).text()).not.toContain('<script');
  });
});
