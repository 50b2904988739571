import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp, type Answer } from '../support/http-app.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

const count = (fields: Record<string, unknown> = {}): Promise<Answer> =>
  http.call('POST', '/v1/responses/input_tokens', { model: 'pocket', input: 'Hello', ...fields });

describe('POST /v1/responses/input_tokens (WIRE B2)', () => {
  it.each<[string, Record<string, unknown>]>([
    ['a text', {}],
    ['instructions', { instructions: 'Be brief.' }],
    ['a conversation', { input: ['a', 'b'].map((content) => ({ role: 'user', content })) }],
  ])('counts %s as the response does that is made of it', async (_, fields) => {
    const { status, body } = await count(fields);
    const { usage } = (await http.create(fields)).body;
    expect([status, body]).toEqual([200, { object: 'response.input_tokens', input_tokens: usage.input_tokens }]);
  });

  it('runs and stores nothing', async () => {
    const before = http.engine.requests.length;
    const stored = () => http.store.reader.query('SELECT count(*) AS n FROM responses');
    const rows = await stored();
    await count();
    expect([http.engine.requests.length, await stored()]).toEqual([before, rows]);
  });

  it.each<[string, Record<string, unknown>, number, string, string | null]>([
    ['no input', { input: undefined }, 400, 'missing_required_parameter', 'input'],
    ['an unknown model', { model: 'nobody' }, 404, 'model_not_found', 'model'],
    ['what does not fit the model', { input: 'word '.repeat(3000) }, 400, 'context_length_exceeded', 'input'],
  ])('refuses %s as a create does', async (_, fields, status, code, param) => {
    const answer = await count(fields);
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([status, code, param]);
  });
});
