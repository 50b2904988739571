import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeEngine } from '../support/fake-engine.js';
import { inlineCodec } from '../../src/testing/inline-codec.js';
import { HttpApp, parseEvents, type Answer } from '../support/http-app.js';
import { POCKET } from '../contract/pocket.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => new Array<string>(20).fill('a ') }) });
});
afterAll(() => http.close());

const complete = (fields: Record<string, unknown> = {}): Promise<Answer> =>
  http.call('POST', '/v1/completions', { model: 'pocket', prompt: 'Once upon', ...fields });

describe('POST /v1/completions (WIRE B2)', () => {
  it('answers with text, up to 16 tokens unless more are asked for', async () => {
    const { status, body } = await complete();
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^cmpl-[0-9a-z]{26,32}$/),
        object: 'text_completion',
        created: expect.any(Number),
        model: 'pocket',
        system_fingerprint: expect.any(String),
        choices: [{ index: 0, text: 'a '.repeat(16), logprobs: null, finish_reason: 'length' }],
        usage: expect.objectContaining({ completion_tokens: 16 }),
      },
    ]);
    const longer = await complete({ max_tokens: 100, prompt: ['Once upon'] });
    expect(longer.body.choices[0]).toMatchObject({ text: 'a '.repeat(20), finish_reason: 'stop' });
  });

  it('gives the prompt to the model as it is, control tokens and all', async () => {
    for (const prompt of ['Once upon', '<|im_start|>user\nHi<|im_end|>']) {
      await complete({ prompt });
      const ids = await inlineCodec.encodeText(POCKET.directory, prompt);
      expect(http.engine.requests.at(-1)?.promptIds).toEqual(ids);
    }
    // <|im_start|>
    expect(http.engine.requests.at(-1)?.promptIds[0]).toBe(1);
  });

  it('streams chunks to [DONE], with the usage in a last one where it is asked for', async () => {
    const body = { model: 'pocket', prompt: 'x', stream: true, max_tokens: 2, stream_options: { include_usage: true } };
    const response = await http.fetch('POST', '/v1/completions', body);
    const events = parseEvents(await response.text());
    expect(events.pop()?.data).toBe('[DONE]');
    const chunks = events.map(({ data }) => JSON.parse(data));
    expect(chunks.map(({ object, choices, usage }) => [object, choices, usage?.completion_tokens])).toEqual([
      ['text_completion', [{ index: 0, text: 'a ', logprobs: null, finish_reason: null }], undefined],
      ['text_completion', [{ index: 0, text: 'a ', logprobs: null, finish_reason: null }], undefined],
      ['text_completion', [{ index: 0, text: '', logprobs: null, finish_reason: 'length' }], undefined],
      ['text_completion', [], 2],
    ]);
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  it('takes what changes nothing', async () => {
    const { status } = await complete({
      n: 1,
      best_of: 1,
      echo: false,
      suffix: null,
      logprobs: null,
      user: 'me',
      other: 1,
    });
    expect(status).toBe(200);
    expect((await complete({ suffix: '' })).status).toBe(200);
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['no prompt', { prompt: undefined }, 'missing_required_parameter', 'prompt'],
    ['an empty prompt', { prompt: '' }, 'invalid_value', 'prompt'],
    ['a number', { prompt: 5 }, 'invalid_type', 'prompt'],
    ['tokens', { prompt: [1, 2] }, 'unsupported_value', 'prompt'],
    ['lists of tokens', { prompt: [[1, 2]] }, 'unsupported_value', 'prompt'],
    ['two prompts', { prompt: ['a', 'b'] }, 'unsupported_value', 'prompt'],
    ['a suffix', { suffix: 'end' }, 'unsupported_parameter', 'suffix'],
    ['an echo', { echo: true }, 'unsupported_parameter', 'echo'],
    ['the best of two', { best_of: 2 }, 'unsupported_value', 'best_of'],
    ['two answers', { n: 2 }, 'unsupported_value', 'n'],
    ['probabilities', { logprobs: 1 }, 'unsupported_parameter', 'logprobs'],
    ['no room', { max_tokens: 0 }, 'invalid_value', 'max_tokens'],
    ['a prompt beyond the context', { prompt: 'word '.repeat(3000) }, 'context_length_exceeded', 'prompt'],
  ])('refuses %s', async (_, fields, code, param) => {
    const { status, body } = await complete(fields);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });
});
