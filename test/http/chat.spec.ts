import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeEngine } from '../support/fake-engine.js';
import { HttpApp, parseEvents, type Answer } from '../support/http-app.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => ['Hello', ',', ' world', '!'] }) });
});
afterAll(() => http.close());

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const chat = (fields: Record<string, unknown> = {}): Promise<Answer> =>
  http.call('POST', '/v1/chat/completions', { model: 'pocket', messages: MESSAGES, ...fields });

async function streamed(fields: Record<string, unknown> = {}) {
  const body = { model: 'pocket', messages: MESSAGES, stream: true, ...fields };
  const response = await http.fetch('POST', '/v1/chat/completions', body);
  const events = parseEvents(await response.text());
  return { response, events, chunks: events.slice(0, -1).map(({ data }) => JSON.parse(data)) };
}

describe('POST /v1/chat/completions (WIRE B7)', () => {
  it('answers with the fields that OpenAI has, and the usage', async () => {
    const { status, body, headers } = await chat();
    expect([status, headers.get('cache-control'), headers.get('lmsp-task-id')]).toEqual([200, 'no-store', null]);
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-z]{26,32}$/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'pocket',
      service_tier: 'default',
      system_fingerprint: expect.stringMatching(/^lmsp-\d/),
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello, world!', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: 5,
        total_tokens: body.usage.prompt_tokens + 5,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
  });

  it('asks the model what a response would', async () => {
    const messages = [
      {
        role: 'system',
        content: [
          { type: 'text', text: 'Be ' },
          { type: 'text', text: 'brief.' },
        ],
      },
      ...MESSAGES,
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'And?', name: 'me' },
    ];
    await chat({ messages, seed: 7, temperature: 0.5, top_k: 3, stop: 'x', max_tokens: 9, logit_bias: { 5: 1 } });
    const input = messages.map(({ role, content }) => ({
      role,
      content: typeof content === 'string' ? content : 'Be brief.',
    }));
    await http.create({
      input,
      seed: 7,
      temperature: 0.5,
      top_k: 3,
      stop: 'x',
      max_output_tokens: 9,
      logit_bias: { 5: 1 },
    });
    const asked = http.engine.requests.slice(-2).map(({ promptIds, seed, sampling, stop, maxOutputTokens }) => {
      return { promptIds, seed, sampling, stop, maxOutputTokens };
    });
    expect(asked[0]).toEqual(asked[1]);
    expect(asked[0]).toMatchObject({ seed: 7, stop: ['x'], maxOutputTokens: 9 });
  });

  it('says length where the limit was the end, by either name of it', async () => {
    for (const limit of [{ max_tokens: 2 }, { max_completion_tokens: 2, max_tokens: 9 }]) {
      const { body } = await chat(limit);
      expect(body.choices[0]).toMatchObject({ message: { content: 'Hello,' }, finish_reason: 'length' });
    }
  });

  it('streams chunks to [DONE], as data alone, and as every stream (WIRE-FACTS A8)', async () => {
    const { response, events, chunks } = await streamed();
    expect([response.status, response.headers.get('content-type'), response.headers.get('x-accel-buffering')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'no',
    ]);
    expect(events.every(({ event, id }) => event === null && id === null)).toBe(true);
    expect(events.at(-1)?.data).toBe('[DONE]');
    expect(chunks.map(({ choices }) => [choices[0].delta, choices[0].finish_reason])).toEqual([
      [{ role: 'assistant', content: '', refusal: null }, null],
      [{ content: 'Hello' }, null],
      [{ content: ',' }, null],
      [{ content: ' world' }, null],
      [{ content: '!' }, null],
      [{}, 'stop'],
    ]);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
  });

  it('tells the usage in a last chunk where include_usage asks for it, null in the others', async () => {
    const { chunks } = await streamed({ stream_options: { include_usage: true } });
    const whole = (await chat()).body.usage;
    expect(chunks.map(({ usage }) => usage)).toEqual([...new Array<null>(6).fill(null), whole]);
    expect(chunks.at(-1).choices).toEqual([]);
  });

  it('takes what changes nothing, and null for absent', async () => {
    const optional =
      'temperature stop tools tool_choice response_format n logprobs max_tokens stream stream_options'.split(' ');
    const { status } = await chat({
      ...Object.fromEntries(optional.map((field) => [field, null])),
      modalities: ['text'],
      functions: [],
      function_call: 'auto',
      metadata: { a: 'b' },
      store: true,
      made_up: 1,
      user: 'me',
      parallel_tool_calls: false,
      response_format: { type: 'text' },
      reasoning_effort: 'low',
    });
    expect(status).toBe(200);
    expect((await chat({ n: 1, tools: [], tool_choice: 'none', top_logprobs: 0 })).status).toBe(200);
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['no model', { model: undefined }, 'missing_required_parameter', 'model'],
    ['no messages', { messages: undefined }, 'missing_required_parameter', 'messages'],
    ['an empty chat', { messages: [] }, 'invalid_value', 'messages'],
    ['an unknown role', { messages: [{ role: 'wizard', content: 'a' }] }, 'invalid_value', 'messages[0].role'],
    ['a user who says nothing', { messages: [{ role: 'user', content: '' }] }, 'invalid_value', 'messages[0].content'],
    ['a number', { messages: [...MESSAGES, { role: 'user', content: 5 }] }, 'invalid_type', 'messages[1].content'],
    ...['image_url', 'input_audio', 'file'].map((type): [string, Record<string, unknown>, string, string] => [
      `a part of type ${type}`,
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type, [type]: {} },
            ],
          },
        ],
      },
      'unsupported_value',
      'messages[0].content[1].type',
    ]),
    ['two answers', { n: 2 }, 'unsupported_value', 'n'],
    ['sound', { audio: { voice: 'a', format: 'wav' } }, 'unsupported_parameter', 'audio'],
    ['sound among the modalities', { modalities: ['text', 'audio'] }, 'unsupported_value', 'modalities'],
    ['functions', { functions: [{ name: 'f' }] }, 'unsupported_parameter', 'functions'],
    ['a function to call', { function_call: { name: 'f' } }, 'unsupported_parameter', 'function_call'],
    ['a web search', { web_search_options: {} }, 'unsupported_parameter', 'web_search_options'],
    ['a prediction', { prediction: { type: 'content', content: 'a' } }, 'unsupported_parameter', 'prediction'],
    [
      'tools of other types',
      { tools: [{ type: 'custom', custom: { name: 'a' } }] },
      'unsupported_value',
      'tools[0].type',
    ],
    ['no room', { max_tokens: 0 }, 'invalid_value', 'max_tokens'],
    ['too much heat', { temperature: 3 }, 'invalid_value', 'temperature'],
    ['an empty stop text', { stop: ['a', ''] }, 'invalid_value', 'stop[1]'],
    ['likeliest tokens without probabilities', { top_logprobs: 2 }, 'invalid_value', 'top_logprobs'],
    ['an unknown tier', { service_tier: 'gold' }, 'invalid_value', 'service_tier'],
    [
      'a chat beyond the context',
      { messages: [{ role: 'user', content: 'word '.repeat(3000) }] },
      'context_length_exceeded',
      'messages',
    ],
    ['a model of another type', { model: 'pocket-embed' }, 'unsupported_value', 'model'],
  ])('refuses %s, streamed or not', async (_, fields, code, param) => {
    for (const stream of [false, true]) {
      const { status, body } = await chat({ ...fields, stream });
      expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
      expect(body.error.message).not.toMatch(/'(?:input|max_output_tokens|text\.format)/);
    }
  });

  it('knows no model of another name, wants responses:write, and stores nothing', async () => {
    expect((await chat({ model: 'nobody' })).body.error).toMatchObject({ code: 'model_not_found', param: 'model' });
    const before = await http.store.reader.query('SELECT count(*) AS n FROM tasks');
    await chat({ store: true });
    expect(await http.store.reader.query('SELECT count(*) AS n FROM tasks')).toEqual(before);
    const Authorization = `Bearer ${await http.addClient('responses:read', 'embeddings:write')}`;
    for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/responses/input_tokens']) {
      const { status, body } = await http.call('POST', path, {}, { Authorization });
      expect([status, body.error.code]).toEqual([403, 'insufficient_scope']);
    }
  });
});
