import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp, type Answer } from '../support/http-app.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

const tokenize = (fields: Record<string, unknown>): Promise<Answer> =>
  http.call('POST', '/v1/tokenize', { model: 'pocket', ...fields });
const detokenize = (fields: Record<string, unknown>): Promise<Answer> =>
  http.call('POST', '/v1/detokenize', { model: 'pocket', ...fields });

describe('POST /v1/tokenize and /v1/detokenize (WIRE B2)', () => {
  it.each([
    ['plain words', 'Hello, world!'],
    ['what has several tokens a character', 'größer 漢字 😀\n\t x'],
    ['special tokens', '<|im_start|>user\nHi<|im_end|>\n'],
    ['nothing', ''],
  ])('turn %s into tokens and back', async (_, text) => {
    const { status, body } = await tokenize({ text });
    expect(status).toBe(200);
    expect(body.tokens.every(Number.isInteger)).toBe(true);
    expect(await detokenize({ tokens: body.tokens })).toMatchObject({ status: 200, body: { text } });
  });

  it('take a special token for what it is', async () => {
    expect((await tokenize({ text: '<|im_start|>' })).body).toEqual({ tokens: [1] });
    expect((await detokenize({ tokens: [1, 2] })).body).toEqual({ text: '<|im_start|><|im_end|>' });
  });

  it('know models of every type, and load none', async () => {
    const { status, body } = await tokenize({ model: 'pocket-embed', text: 'a cat' });
    expect([status, body.tokens.length > 0]).toEqual([200, true]);
    expect(http.engine.models).toEqual([]);
  });

  it.each<[string, () => Promise<Answer>, number, string, string]>([
    ['no text', () => tokenize({}), 400, 'missing_required_parameter', 'text'],
    ['a number as text', () => tokenize({ text: 5 }), 400, 'invalid_type', 'text'],
    ['an unknown model', () => tokenize({ model: 'nobody', text: 'a' }), 404, 'model_not_found', 'model'],
    [
      'far too long a text',
      () => tokenize({ text: 'word '.repeat(1_000_000) }),
      400,
      'context_length_exceeded',
      'text',
    ],
    ['no tokens', () => detokenize({}), 400, 'missing_required_parameter', 'tokens'],
    ['a text as tokens', () => detokenize({ tokens: 'a' }), 400, 'invalid_type', 'tokens'],
    ['a text among tokens', () => detokenize({ tokens: [1, '2'] }), 400, 'invalid_type', 'tokens[1]'],
    ['half a token', () => detokenize({ tokens: [1.5] }), 400, 'invalid_value', 'tokens[0]'],
    ['a token below all', () => detokenize({ tokens: [1, -1] }), 400, 'invalid_value', 'tokens[1]'],
    ['a token beyond all', () => detokenize({ tokens: [1, 2, 1e6] }), 400, 'invalid_value', 'tokens[2]'],
    ['an unknown model', () => detokenize({ model: 'nobody', tokens: [1] }), 404, 'model_not_found', 'model'],
  ])('refuse %s', async (_, ask, status, code, param) => {
    const answer = await ask();
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([status, code, param]);
  });

  it('want responses:write', async () => {
    const Authorization = `Bearer ${await http.addClient('responses:read')}`;
    for (const path of ['/v1/tokenize', '/v1/detokenize']) {
      expect((await http.call('POST', path, {}, { Authorization })).status).toBe(403);
    }
  });
});
