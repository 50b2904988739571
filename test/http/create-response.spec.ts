import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp, parseEvents } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

/** Keys of a ResponseResource that Open Responses requires (WIRE-FACTS A2). */
const REQUIRED_KEYS =
  'id object created_at completed_at status incomplete_details model previous_response_id instructions output error ' +
  'tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs ' +
  'temperature reasoning usage max_output_tokens max_tool_calls store background service_tier metadata ' +
  'safety_identifier prompt_cache_key lmsp';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

describe('POST /v1/responses in the foreground (WIRE B3)', () => {
  it('waits for the end and answers with the stored response', async () => {
    const { status, headers, body } = await http.create({ metadata: { topic: 'test' }, user: 'u1', seed: 7 });
    expect(status).toBe(200);
    expect(headers.get('lmsp-task-id')).toBe(body.lmsp.task_id);
    expect(Object.keys(body)).toEqual(expect.arrayContaining(REQUIRED_KEYS.split(' ')));
    expect(body).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'pocket',
      error: null,
      metadata: { topic: 'test' },
      user: 'u1',
      store: true,
      background: false,
      // The model's own file says do_sample: false.
      temperature: 0,
      top_p: 1,
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello, world!', annotations: [], logprobs: [] }],
        },
      ],
      lmsp: { task_status: 'completed', attempt: 1, on_restart: 'fail', seed: 7, replayed_tokens: 0 },
    });
    expect(body.usage.total_tokens).toBe(body.usage.input_tokens + body.usage.output_tokens);
    expect((await http.call('GET', `/v1/responses/${body.id}`)).body).toEqual(body);
  });

  it('streams the events from 0 to [DONE], numbered without gap (invariants 1 to 3)', async () => {
    const response = await http.fetch('POST', '/v1/responses', { model: 'pocket', input: 'Hello', stream: true });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching('^text/event-stream'),
    ]);
    const frames = parseEvents(await response.text());
    expect(frames.pop()).toEqual({ id: null, event: null, data: '[DONE]' });
    const events = frames.map((frame) => JSON.parse(frame.data) as { type: string; sequence_number: number });
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(frames.map((frame) => frame.event)).toEqual(events.map((event) => event.type));
    expect(frames.every((frame) => frame.id === null)).toBe(true);
    expect(events[0]?.type).toBe('response.created');
    expect(events[1]?.type).toBe('response.queued');
    expect(events.at(-1)?.type).toBe('response.completed');
    expect(frames.filter(({ event }) => event === 'response.output_text.delta')).toHaveLength(4);
  });

  it('chooses a seed where none is given, and uses the one that is (ENGINE 4.5)', async () => {
    const seeds = [(await http.create()).body.lmsp.seed, (await http.create()).body.lmsp.seed];
    expect(seeds.every(Number.isSafeInteger)).toBe(true);
    expect(seeds[0]).not.toBe(seeds[1]);
    await http.create({ seed: 42, temperature: 0.5, stop: ['END'], max_output_tokens: 3 });
    expect(http.engine.requests.at(-1)).toMatchObject({
      seed: 42,
      sampling: { temperature: 0.5 },
      stop: ['END'],
      maxOutputTokens: 3,
    });
  });

  it('takes null for absent in every optional field', async () => {
    const optional = ['instructions', 'temperature', 'top_p', 'top_k', 'seed', 'stop', 'metadata', 'stream', 'store'];
    const nulls = Object.fromEntries(
      [...optional, 'tools', 'text', 'reasoning', 'on_restart'].map((key) => [key, null]),
    );
    expect((await http.create(nulls)).status).toBe(200);
  });

  it('ignores fields that nobody knows, and accepts what asks for nothing (WIRE B0)', async () => {
    const { status, body } = await http.create({
      made_up: { a: 1 },
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      truncation: 'disabled',
      text: { format: { type: 'text' }, verbosity: 'medium' },
      top_logprobs: 0,
      previous_response_id: null,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low' },
      stream_options: { include_obfuscation: false },
      service_tier: 'flex',
      safety_identifier: 's',
      prompt_cache_key: 'k',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      parallel_tool_calls: false,
      service_tier: 'flex',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      reasoning: { effort: 'low', summary: null },
    });
    expect(body).not.toHaveProperty('made_up');
  });
});

describe('POST /v1/responses in the background (R1)', () => {
  it('answers 202 with the queued response, and where to look', async () => {
    const { status, headers, body } = await http.create({ background: true });
    expect(status).toBe(202);
    expect(body).toMatchObject({ status: 'queued', output: [], background: true });
    expect(headers.get('location')).toBe(`/v1/responses/${body.id}`);
    expect(headers.get('retry-after')).toBe('1');
    expect(headers.get('lmsp-task-id')).toBe(body.lmsp.task_id);
    expect(body.lmsp.task_id).toBe(`task_${(body.id as string).slice('resp_'.length)}`);
    await http.task(body.lmsp.task_id, 'completed');
    expect((await http.call('GET', `/v1/responses/${body.id}`)).body.output[0].content[0].text).toBe('Hello, world!');
  });

  it('answers a background stream with 200 and the same events as the log has', async () => {
    const response = await http.fetch('POST', '/v1/responses', {
      model: 'pocket',
      input: 'Hello',
      stream: true,
      background: true,
    });
    expect(response.status).toBe(200);
    const frames = parseEvents(await response.text());
    const task = response.headers.get('lmsp-task-id');
    const { body } = await http.call('GET', `/v1/tasks/${task}/events?limit=1000`);
    expect(frames.slice(0, -1).map((frame) => frame.data)).toEqual(
      (body.data as unknown[]).map((event) => JSON.stringify(event)),
    );
  });

  it.each([
    [{ background: true, on_restart: 'fail' }, 'fail'],
    [{ background: true, on_restart: 'retry' }, 'retry'],
    [{ background: true, on_restart: 'resume' }, 'resume'],
    [{ background: true }, 'resume'],
    [{ on_restart: 'fail' }, 'fail'],
  ])('%j runs under the policy %s', async (fields, policy) => {
    expect((await http.create(fields)).body.lmsp.on_restart).toBe(policy);
  });
});

describe('the notice of a request', () => {
  it('names client and task, and nothing of what was said', async () => {
    const { body } = await http.create({ input: 'a secret' });
    const notice = await waitFor('the notice', () =>
      http.requests.find(({ task_id }) => task_id === body.lmsp.task_id),
    );
    expect(notice).toMatchObject({ method: 'POST', route: '/v1/responses', status: 200 });
    expect(notice.client_id).toMatch(/^cli_/);
    expect(JSON.stringify(http.requests)).not.toContain('secret');
  });
});

describe('store=false (WIRE B6)', () => {
  it('answers like a stored response and leaves nothing behind', async () => {
    const { status, headers, body } = await http.create({ store: false });
    expect(status).toBe(200);
    expect(headers.get('lmsp-task-id')).toBeNull();
    expect(body).toMatchObject({ status: 'completed', store: false, lmsp: { task_id: null, attempt: 1 } });
    expect(body.output[0].content[0].text).toBe('Hello, world!');
    expect((await http.call('GET', `/v1/responses/${body.id}`)).status).toBe(404);
    const rows = await http.store.reader.query('select id from responses where id = ?', [body.id]);
    expect(rows).toEqual([]);
  });

  it('streams the same kinds of events in the same order as a stored one', async () => {
    const kinds = async (fields: object): Promise<(string | null)[]> => {
      const request = { model: 'pocket', input: 'Hello', stream: true, ...fields };
      return parseEvents(await (await http.fetch('POST', '/v1/responses', request)).text()).map(({ event }) => event);
    };
    expect(await kinds({ store: false })).toEqual(await kinds({}));
  });
});

describe('what POST /v1/responses refuses', () => {
  const message = (content: unknown, role = 'user') => [{ role, content }];

  it.each([
    // CASES BL-24
    [{ input: '' }, 400, 'invalid_value', 'input'],
    [{ input: [] }, 400, 'invalid_value', 'input'],
    [{ input: null }, 400, 'missing_required_parameter', 'input'],
    [{ input: message('') }, 400, 'invalid_value', 'input[0].content'],
    [{ input: message([]) }, 400, 'invalid_value', 'input[0].content'],
    // CASES BL-28
    [{ stream: 'true' }, 400, 'invalid_type', 'stream'],
    [{ max_output_tokens: '10' }, 400, 'invalid_type', 'max_output_tokens'],
    [{ max_output_tokens: -1 }, 400, 'invalid_value', 'max_output_tokens'],
    [{ max_output_tokens: 0 }, 400, 'invalid_value', 'max_output_tokens'],
    [{ max_output_tokens: 1.5 }, 400, 'invalid_value', 'max_output_tokens'],
    // ranges and forms (WIRE-FACTS A1)
    [{ model: undefined }, 400, 'missing_required_parameter', 'model'],
    [{ model: 'nobody' }, 404, 'model_not_found', 'model'],
    [{ temperature: 2.1 }, 400, 'invalid_value', 'temperature'],
    [{ top_p: -0.1 }, 400, 'invalid_value', 'top_p'],
    [{ seed: -1 }, 400, 'invalid_value', 'seed'],
    [{ stop: '' }, 400, 'invalid_value', 'stop'],
    [{ stop: ['a', ''] }, 400, 'invalid_value', 'stop[1]'],
    [{ metadata: { a: 1 } }, 400, 'invalid_type', 'metadata.a'],
    [{ input: [{ role: 'pirate', content: 'x' }] }, 400, 'invalid_value', 'input[0].role'],
    [{ input: [{ content: 'x' }] }, 400, 'missing_required_parameter', 'input[0].role'],
    [{ input: message([{ type: 'input_text' }]) }, 400, 'missing_required_parameter', 'input[0].content[0].text'],
    // known, not supported (WIRE B0, B3)
    [{ input: message([{ type: 'input_image' }]) }, 400, 'unsupported_value', 'input[0].content[0].type'],
    [{ input: [{ type: 'computer_call' }] }, 400, 'unsupported_value', 'input[0].type'],
    [{ previous_response_id: 'resp_1' }, 400, 'previous_response_not_found', 'previous_response_id'],
    [{ previous_response_id: 1 }, 400, 'invalid_type', 'previous_response_id'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 400, 'item_not_found', 'input[0].id'],
    [{ input: [{ type: 'item_reference' }] }, 400, 'missing_required_parameter', 'input[0].id'],
    [{ conversation: 'c' }, 400, 'unsupported_parameter', 'conversation'],
    [{ top_logprobs: 21 }, 400, 'invalid_value', 'top_logprobs'],
    [{ keep_alive_seconds: -2 }, 400, 'invalid_value', 'keep_alive_seconds'],
    [{ truncation: 'auto' }, 400, 'unsupported_value', 'truncation'],
    [{ text: { format: { type: 'grammar' } } }, 400, 'unsupported_value', 'text.format.type'],
    [{ text: { format: { type: 'json_schema', schema: {} } } }, 400, 'missing_required_parameter', 'text.format.name'],
    [{ text: { format: { type: 'json_schema', name: 'a', schema: 1 } } }, 400, 'invalid_value', 'text.format.schema'],
    [
      { text: { format: { type: 'json_schema', name: 'a', schema: { type: 'array', uniqueItems: true } } } },
      400,
      'unsupported_value',
      'text.format.schema/uniqueItems',
    ],
    [{ on_restart: 'retry' }, 400, 'unsupported_value', 'on_restart'],
    [{ on_restart: 'resume' }, 400, 'unsupported_value', 'on_restart'],
    [{ on_restart: 'never' }, 400, 'invalid_value', 'on_restart'],
    [{ background: true, store: false }, 400, 'background_requires_store', 'store'],
  ])('%j', async (fields, status, code, param) => {
    const answer = await http.create(fields);
    expect(answer.body.error).toMatchObject({ code, param });
    expect(answer.status).toBe(status);
  });

  it('leaves no task behind and goes on (CASES BL-24)', async () => {
    const { body } = await http.call('GET', '/v1/tasks?status=queued,loading,running,cancelling');
    expect(body.data).toEqual([]);
    expect((await http.create()).status).toBe(200);
  });

  it('refuses 1e309 as a number out of range (CASES BL-28)', async () => {
    const response = await fetch(`${http.url}/v1/responses`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${http.token}`, 'Content-Type': 'application/json' },
      body: '{"model":"pocket","input":"x","max_output_tokens":1e309}',
    });
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_value', param: 'max_output_tokens' } });
  });

  it.each([['  '], ['\0'], [[{ role: 'system', content: 'Only this.' }]]])(
    'takes the input %j, which is little but something (CASES BL-24)',
    async (input) => {
      expect((await http.create({ input })).body.status).toBe('completed');
    },
  );
});
