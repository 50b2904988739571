import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../src/clients/index.js';
import { HttpApp } from '../support/http-app.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ env: { LMSP_WRONG_TOKENS_PER_MINUTE: '0' } });
});
afterAll(() => http.close());

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** A client made by the owner. */
async function made(scopes: Scope[], fields: object = {}): Promise<{ id: string; token: string }> {
  const { status, body } = await http.call('POST', '/v1/clients', { name: 'app', scopes, ...fields });
  expect(status).toBe(201);
  return body;
}

const me = async (token: string) => (await http.call('GET', '/v1/clients/me', undefined, bearer(token))).status;

describe('clients (WIRE B2)', () => {
  it('are made with a token that is shown once, and read as WIRE has them', async () => {
    const { body } = await http.call('POST', '/v1/clients', { name: 'notes', scopes: ['tasks:read'], expires_in: 60 });
    const { token, ...client } = body;
    expect(client).toEqual({
      id: expect.stringMatching(/^cli_/),
      object: 'client',
      name: 'notes',
      scopes: ['tasks:read'],
      token_hint: `${token.slice(0, 9)}…${token.slice(-4)}`,
      created_at: expect.any(Number),
      last_used_at: null,
      expires_at: client.created_at + 60,
      revoked_at: null,
    });
    expect((await http.call('GET', `/v1/clients/${client.id}`)).body).toEqual(client);
    const listed = (await http.call('GET', '/v1/clients')).body;
    expect(listed.data[0]).toEqual(client);
    expect(JSON.stringify(listed)).not.toContain(token);
    expect((await http.call('GET', '/v1/clients/me', undefined, bearer(token))).body.id).toBe(client.id);
  });

  it('are listed in pages without gap or overlap', async () => {
    for (let i = 0; i < 3; i++) await made(['tasks:read']);
    const seen: string[] = [];
    for (let after = ''; ;) {
      const { body } = await http.call('GET', `/v1/clients?limit=2${after}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      if (!body.has_more) break;
      after = `&after=${body.last_id}`;
    }
    expect(seen).toEqual((await http.call('GET', '/v1/clients')).body.data.map(({ id }: { id: string }) => id));
    expect((await http.call('GET', '/v1/clients?after=cli_x')).body.error.code).toBe('invalid_cursor');
  });

  it.each([
    [{ scopes: ['tasks:read'] }, 'missing_required_parameter'],
    [{ name: 'a\u202eb', scopes: ['tasks:read'] }, 'invalid_value'],
    [{ name: 'x'.repeat(65), scopes: ['tasks:read'] }, 'invalid_value'],
    [{ name: 'a', scopes: [] }, 'invalid_value'],
    [{ name: 'a', scopes: ['tasks:all'] }, 'invalid_value'],
    [{ name: 'a', scopes: ['tasks:read'], expires_in: 0 }, 'invalid_value'],
  ])('are refused with %j', async (body, code) => {
    expect((await http.call('POST', '/v1/clients', body)).body.error.code).toBe(code);
  });

  it('are renamed and narrowed; a request that follows has the new scopes', async () => {
    const { id, token } = await made(['tasks:read', 'models:read']);
    const { body } = await http.call('PATCH', `/v1/clients/${id}`, { name: 'new', scopes: ['models:read'] });
    expect(body).toMatchObject({ name: 'new', scopes: ['models:read'] });
    expect((await http.call('GET', '/v1/tasks', undefined, bearer(token))).status).toBe(403);
    expect((await http.call('GET', '/v1/models', undefined, bearer(token))).status).toBe(200);
  });

  it('answer 404 client_not_found for unknown ids', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const) {
      const { status, body } = await http.call(method, `/v1/clients/cli_nobody${path}`);
      expect([status, body.error.code]).toEqual([404, 'client_not_found']);
    }
  });
});

describe('nobody gives more than it has (WIRE B8)', () => {
  it('a manager makes, changes and rotates within its own scopes only, old and new ones', async () => {
    const manager = await made(['clients:manage', 'tasks:read']);
    const equal = await made(['tasks:read']);
    const wider = await made(['tasks:read', 'operator:read']);
    const as = bearer(manager.token);
    const refused = async (method: string, path: string, body: object, scope: string): Promise<void> => {
      const answer = await http.call(method, path, body, as);
      expect([answer.status, answer.body.error.code]).toEqual([403, 'insufficient_scope']);
      expect(answer.headers.get('www-authenticate')).toContain(`scope="${scope}"`);
    };
    await refused('POST', '/v1/clients', { name: 'x', scopes: ['operator:read'] }, 'operator:read');
    await refused('PATCH', `/v1/clients/${equal.id}`, { scopes: ['models:read'] }, 'models:read');
    await refused('PATCH', `/v1/clients/${wider.id}`, { scopes: ['tasks:read'] }, 'operator:read');
    await refused(
      'PATCH',
      `/v1/clients/${manager.id}`,
      { scopes: ['clients:manage', 'operator:manage'] },
      'operator:manage',
    );
    await refused('POST', `/v1/clients/${wider.id}/rotate`, {}, 'operator:read');
    const { id: owner } = (await http.call('GET', '/v1/clients/me')).body;
    for (const [method, path] of [
      ['POST', '/rotate'],
      ['PATCH', ''],
    ] as const) {
      const answer = await http.call(method, `/v1/clients/${owner}${path}`, { scopes: ['tasks:read'] }, as);
      expect([answer.status, answer.body.error.code]).toEqual([403, 'insufficient_scope']);
    }
    expect((await http.call('POST', `/v1/clients/${equal.id}/rotate`, {}, as)).status).toBe(200);
    expect((await http.call('PATCH', `/v1/clients/${equal.id}`, { name: 'ok' }, as)).status).toBe(200);
  });
});

describe('rotating (WIRE B8)', () => {
  it('by itself: the old token stays until the new one is first used', async () => {
    const { id, token } = await made(['tasks:read']);
    const rotated = await http.call('POST', `/v1/clients/${id}/rotate`, undefined, bearer(token));
    expect(rotated.status).toBe(200);
    expect(await me(token)).toBe(200);
    expect(await me(rotated.body.token)).toBe(200);
    expect(await me(token)).toBe(401);
    expect(await me(rotated.body.token)).toBe(200);
  });

  it('by itself again: the unused token is replaced, the old one stays', async () => {
    const { id, token } = await made(['tasks:read']);
    const rotate = () => http.call('POST', `/v1/clients/${id}/rotate`, undefined, bearer(token));
    const [first, second] = [await rotate(), await rotate()];
    expect(await me(first.body.token)).toBe(401);
    expect(await me(token)).toBe(200);
    expect(await me(second.body.token)).toBe(200);
    expect(await me(token)).toBe(401);
  });

  it('by itself: ten minutes at most', async () => {
    const { id, token } = await made(['tasks:read']);
    await http.call('POST', `/v1/clients/${id}/rotate`, undefined, bearer(token));
    const [row] = await http.store.reader.query<{ left: number }>(
      'select former_expires_at - ? as left from clients where id = ?',
      [Date.now(), id],
    );
    expect(row!.left).toBeGreaterThan(590_000);
    expect(row!.left).toBeLessThanOrEqual(600_000);
    await http.store.units.run((tx) => tx.execute('UPDATE clients SET former_expires_at = 1 WHERE id = ?', [id]));
    expect(await me(token)).toBe(401);
  });

  it('by the owner: the old token dies at once, or after the grace, and cannot undo it', async () => {
    const { id, token } = await made(['tasks:read']);
    const first = await http.call('POST', `/v1/clients/${id}/rotate`);
    expect([await me(token), await me(first.body.token)]).toEqual([401, 200]);
    const second = await http.call('POST', `/v1/clients/${id}/rotate`, { grace_seconds: 60 });
    expect([await me(second.body.token), await me(first.body.token)]).toEqual([200, 200]);
    const undo = await http.call('POST', `/v1/clients/${id}/rotate`, {}, bearer(first.body.token));
    expect([undo.status, undo.body.error.code]).toEqual([403, 'insufficient_scope']);
    await http.store.units.run((tx) => tx.execute('UPDATE clients SET former_expires_at = 1 WHERE id = ?', [id]));
    expect(await me(first.body.token)).toBe(401);
    expect((await http.call('POST', `/v1/clients/${id}/rotate`, { grace_seconds: 3601 })).status).toBe(400);
  });

  it('with an Idempotency-Key is done once: the repeat is refused, since its token is kept nowhere (WIRE B6)', async () => {
    const { id } = await made(['tasks:read']);
    const rotate = async (key: string, body: object = {}) => {
      const answer = await http.call('POST', `/v1/clients/${id}/rotate`, body, { 'Idempotency-Key': key });
      return { ...answer, code: (answer.body as { error?: { code: string } }).error?.code };
    };
    const both = await Promise.all([rotate('once'), rotate('once')]);
    expect(both.map(({ status, code }) => [status, code]).sort()).toEqual([
      [200, undefined],
      [409, 'idempotency_not_replayable'],
    ]);
    const { token } = both.find(({ status }) => status === 200)!.body;
    expect((await rotate('once')).headers.get('x-should-retry')).toBe('false');
    expect((await rotate('once', { grace_seconds: 5 })).code).toBe('idempotency_key_reused');
    expect(await me(token), 'nothing has been rotated since').toBe(200);
    expect((await rotate('again')).status).toBe(200);
    expect(await me(token)).toBe(401);
  });

  it('of many at once: one new token is good, and it is not the old one', async () => {
    const { id, token } = await made(['tasks:read']);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => http.call('POST', `/v1/clients/${id}/rotate`, undefined, bearer(token))),
    );
    const tokens = answers.filter(({ status }) => status === 200).map(({ body }) => body.token as string);
    expect(tokens.length).toBe(10);
    const good = [];
    for (const each of tokens) if ((await me(each)) === 200) good.push(each);
    expect(good).toHaveLength(1);
    expect(await me(token)).toBe(401);
  });

  it('of the owner writes its file anew', async () => {
    const { id } = (await http.call('GET', '/v1/clients/me')).body;
    const old = http.token;
    const { body } = await http.call('POST', `/v1/clients/${id}/rotate`);
    expect((await readFile(join(http.dataDir, 'owner-token'), 'utf8')).trim()).toBe(body.token);
    expect(await me(old)).toBe(200);
    // Never used: the next rotation replaces it, so that this file's owner goes on with the old one.
    const { body: again } = await http.call('POST', `/v1/clients/${id}/rotate`);
    expect(await me(body.token)).toBe(401);
    expect((await readFile(join(http.dataDir, 'owner-token'), 'utf8')).trim()).toBe(again.token);
  });
});

describe('revoking (WIRE B8)', () => {
  it('ends the token at once; the row stays, without a hash', async () => {
    const { id, token } = await made(['tasks:read']);
    const { status, body } = await http.call('DELETE', `/v1/clients/${id}`);
    expect([status, body]).toEqual([200, { id, object: 'client', deleted: true }]);
    expect(await me(token)).toBe(401);
    expect((await http.call('GET', `/v1/clients/${id}`)).body).toMatchObject({
      token_hint: null,
      revoked_at: expect.any(Number),
    });
    expect((await http.call('DELETE', `/v1/clients/${id}`)).status).toBe(200);
    expect((await http.call('POST', `/v1/clients/${id}/rotate`)).body.error.code).toBe('client_not_found');
  });

  it('of itself needs no scope, of another it does', async () => {
    const [mine, other] = [await made(['tasks:read']), await made(['tasks:read'])];
    expect((await http.call('DELETE', `/v1/clients/${other.id}`, undefined, bearer(mine.token))).status).toBe(403);
    expect((await http.call('DELETE', `/v1/clients/${mine.id}`, undefined, bearer(mine.token))).status).toBe(200);
    expect([await me(mine.token), await me(other.token)]).toEqual([401, 200]);
  });

  it('of the last owner is refused, as is narrowing it: 409 last_owner', async () => {
    const { id } = (await http.call('GET', '/v1/clients/me')).body;
    for (const answer of [
      await http.call('DELETE', `/v1/clients/${id}`),
      await http.call('PATCH', `/v1/clients/${id}`, { scopes: ['tasks:read'] }),
    ]) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'last_owner']);
      expect(answer.headers.get('x-should-retry')).toBe('false');
    }
  });
});
