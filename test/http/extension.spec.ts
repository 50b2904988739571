import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NoticeTypes } from '../../src/notices/index.js';
import { gatewayExtension } from '../support/gateway-extension.js';
import { HttpApp, type Answer } from '../support/http-app.js';

/** Tokens of a create below: those of its prompt, and the most that its answer may have. */
const ANSWER_TOKENS = 40;

let http: HttpApp;
const loaded: NoticeTypes['extension.loaded'][] = [];

beforeAll(async () => {
  http = await HttpApp.start({
    extensions: [gatewayExtension],
    env: { LMSP_EXT_GATEWAY_TOKENS_PER_CLIENT: '300' },
    watch: (notices) => void notices.on('extension.loaded', (notice) => void loaded.push(notice)),
  });
});

afterAll(() => http.close());

/** A request as the gateway lets it through: with its own headers, and no token of ours. */
const through = (
  user: string,
  roles = 'responses:write responses:read tasks:read gateway:read',
): Record<string, string> => ({
  Authorization: '',
  'X-Gateway-User': user,
  'X-Gateway-Roles': roles,
});

const create = (user: string, fields: Record<string, unknown> = {}): Promise<Answer> =>
  http.create({ background: true, max_output_tokens: ANSWER_TOKENS, ...fields }, through(user));

const used = async (user: string): Promise<number> =>
  ((await http.call('GET', '/v1/gateway/usage', undefined, through(user))).body as { tokens: number }).tokens;

describe('an extension (HOUSE 3.4)', () => {
  it('is told at the start with all that it brings', () => {
    expect(loaded).toEqual([
      expect.objectContaining({
        extension: 'gateway',
        version: '1.0.0',
        tables: 'gateway_usage',
        routes: 'GET /v1/gateway/usage',
        strategies: 'authenticator, admissionPolicy',
        scopes: 'gateway:read',
        settings: 'LMSP_EXT_GATEWAY_TOKENS_PER_CLIENT',
      }),
    ]);
  });

  it('joins the description of the API, retention and the scopes that clients can have', async () => {
    const document = (await (await fetch(`${http.url}/openapi.json`)).json()) as { paths: Record<string, unknown> };
    expect(document.paths).toHaveProperty(['/v1/gateway/usage', 'get', 'security'], [{ token: ['gateway:read'] }]);
    const report = await http.call('GET', '/v1/service/retention');
    expect(JSON.stringify(report.body)).toContain('gateway usage');
    const metadata = await http.call('GET', '/.well-known/oauth-authorization-server');
    expect(metadata.body.scopes_supported).toContain('gateway:read');
    const made = await http.call('POST', '/v1/clients', { name: 'reader', scopes: ['gateway:read'] });
    expect(made.status).toBe(201);
    const own = { Authorization: `Bearer ${made.body.token}` };
    expect((await http.call('GET', '/v1/gateway/usage', undefined, own)).body).toEqual({ tokens: 0 });
    expect(
      (await http.call('GET', '/v1/gateway/usage', undefined, through('nobody', 'tasks:read'))).body.error.code,
    ).toBe('insufficient_scope');
  });
});

describe('a scope of an extension', () => {
  it('WIRE B8: can be asked for, says what it means, and is granted only where it is named', async () => {
    const ask = async (software: string): Promise<string> => {
      const fields = { client_id: software, scope: 'tasks:read gateway:read' };
      return (await http.call('POST', '/oauth/device_authorization', fields)).body.user_code as string;
    };
    const code = await ask('reader');
    const [asked] = (await http.call('GET', '/v1/pairings')).body.data;
    expect(asked).toMatchObject({
      scopes: ['tasks:read', 'gateway:read'],
      meanings: { 'gateway:read': 'see what it has used' },
    });
    const approve = async (userCode: string, body?: object): Promise<unknown> =>
      (await http.call('POST', `/v1/pairings/${userCode}/approve`, body)).body.scopes;
    expect(await approve(code)).toEqual(['tasks:read']);
    expect(await approve(await ask('named'), { scopes: ['gateway:read'] })).toEqual(['gateway:read']);
  });
});

describe('the strategy Authenticator (OPERATE 7)', () => {
  it('lets a subject in as a client of its own, whose work nobody else sees', async () => {
    const { body, status } = await create('ada');
    expect(status).toBe(202);
    const path = `/v1/tasks/${body.lmsp.task_id}`;
    const task = await http.call('GET', path, undefined, through('ada'));
    expect(task.body.client_id).toMatch(/^cli_/);
    expect((await http.call('GET', path, undefined, through('grace'))).status).toBe(404);
    const me = await http.call('GET', '/v1/clients/me', undefined, through('ada'));
    expect(me.body).toMatchObject({ id: task.body.client_id, name: 'ada (gateway)', token_hint: null });
    const audit = await http.call('GET', '/v1/audit?action=client.created');
    expect(JSON.stringify(audit.body)).toContain(task.body.client_id);
  });

  it('says with each request what the subject may do; words that are no scope count for nothing', async () => {
    const roles = async (words: string) =>
      (await http.call('GET', '/v1/clients/me', undefined, through('linus', words))).body.scopes;
    expect(await roles('tasks:read root')).toEqual(['tasks:read']);
    expect(await roles('models:read')).toEqual(['models:read']);
    expect((await http.call('GET', '/v1/tasks', undefined, through('linus', 'models:read'))).status).toBe(403);
  });

  it('is not asked for a token of ours, and what it does not know is a 401 as before', async () => {
    const asOwner = await http.call('GET', '/v1/clients/me', undefined, { 'X-Gateway-User': 'mallory' });
    expect(asOwner.body.name).toBe('owner');
    const code = async (authorization: string) =>
      (await http.call('GET', '/v1/models', undefined, { Authorization: authorization })).body.error.code;
    expect(await code('')).toBe('missing_api_key');
    expect(await code('Bearer sk-something')).toBe('invalid_api_key');
    expect(await code('Bearer expired')).toBe('token_expired');
  });

  it('does not outvote the owner: a subject that was revoked is let in no more, and has no token to rotate', async () => {
    const { id } = (await http.call('GET', '/v1/clients/me', undefined, through('eve'))).body as { id: string };
    const rotated = await http.call('POST', `/v1/clients/${id}/rotate`, {}, through('eve'));
    expect(rotated.body.error.code).toBe('unsupported_value');
    expect((await http.call('DELETE', `/v1/clients/${id}`)).status).toBe(200);
    expect((await http.call('GET', '/v1/clients/me', undefined, through('eve'))).body.error.code).toBe(
      'invalid_api_key',
    );
  });
});

describe('the strategy AdmissionPolicy (OPERATE 7)', () => {
  it('counts what it lets in where the work is accepted, and refuses the rest with 429', async () => {
    const first = await create('tom');
    expect(first.status).toBe(202);
    const tokens = await used('tom');
    expect(tokens, 'prompt and answer').toBeGreaterThan(ANSWER_TOKENS);
    const refused = await create('tom', { max_output_tokens: 300 });
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await used('tom')).toBe(tokens);
    const list = await http.call('GET', '/v1/tasks', undefined, through('tom'));
    expect(list.body.data, 'nothing of the refused one was stored').toHaveLength(1);
  });

  it('is asked once for requests that come together, and for each of them', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => create('mob')));
    const accepted = answers.filter(({ status }) => status === 202).length;
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(12);
    const each = (await used('mob')) / accepted;
    expect(Number.isInteger(each)).toBe(true);
    expect((accepted + 1) * each).toBeGreaterThan(300);
  });

  it('is not asked again for a repeat with the same key', async () => {
    const send = () =>
      http.create({ background: true, max_output_tokens: 150 }, { ...through('kay'), 'Idempotency-Key': 'k' });
    expect((await send()).status).toBe(202);
    const tokens = await used('kay');
    expect((await send()).status).toBe(202);
    expect(await used('kay')).toBe(tokens);
  });

  it.each([
    ['a response that is not stored', '/v1/responses', { input: 'Hello', store: false, max_output_tokens: 300 }],
    ['a streamed one', '/v1/responses', { input: 'Hello', store: false, stream: true, max_output_tokens: 300 }],
    ['a chat completion', '/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 300 }],
    [
      'a streamed chat completion',
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 300, stream: true },
    ],
  ])('%s is no way around it', async (_, path, body) => {
    const answer = await http.call('POST', path, { model: 'pocket', ...body }, through('sly'));
    expect(answer).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
    expect(await used('sly')).toBe(0);
  });
});
