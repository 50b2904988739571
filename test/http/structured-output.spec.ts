import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { realEngine } from '../contract/pocket.js';
import { HttpApp, parseEvents } from '../support/http-app.js';

const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string', maxLength: 20 },
    degrees: { type: 'number', minimum: -40, maximum: 50 },
    sky: { enum: ['clear', 'cloudy'] },
  },
  required: ['city', 'degrees', 'sky'],
  additionalProperties: false,
};
const FORMAT = { type: 'json_schema', name: 'weather', schema: SCHEMA };

describe('structured output', () => {
  const valid = new Ajv2020().compile(SCHEMA);
  let http: HttpApp;
  beforeAll(async () => {
    http = await HttpApp.start({ otherEngine: realEngine() });
  });
  afterAll(() => http.close());

  it.each([true, false])('is valid by its schema, and the request echoed (store %s)', async (store) => {
    const request = { model: 'pocket', input: 'What is the weather?', store, text: { format: FORMAT } };
    const { status, body } = await http.call('POST', '/v1/responses', request);
    expect([status, body.status]).toEqual([200, 'completed']);
    expect(body.text.format).toEqual({ ...FORMAT, description: null, strict: true });
    expect(valid(JSON.parse(body.output[0].content[0].text))).toBe(true);
  });

  it('comes as a stream that adds up to it', async () => {
    const request = { model: 'pocket', input: 'The weather, please.', stream: true, text: { format: FORMAT } };
    const events = parseEvents(await (await http.fetch('POST', '/v1/responses', request)).text()).slice(0, -1);
    const told = events.map(({ data }) => JSON.parse(data));
    const text = told.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : [])).join('');
    expect(valid(JSON.parse(text))).toBe(true);
  });

  it('is any object where there is no schema', async () => {
    const request = {
      model: 'pocket',
      input: 'JSON!',
      max_output_tokens: 400,
      text: { format: { type: 'json_object' } },
    };
    const { body } = await http.call('POST', '/v1/responses', request);
    expect(body.output[0].content[0].text).toMatch(/^\{/);
    if (body.status === 'completed') expect(typeof JSON.parse(body.output[0].content[0].text)).toBe('object');
  });

  it('is had by chat too, with the names of chat in its refusals', async () => {
    const messages = [{ role: 'user', content: 'What is the weather?' }];
    const format = (schema: object) => ({ type: 'json_schema', json_schema: { name: 'weather', schema } });
    const chat = { model: 'pocket', messages, response_format: format(SCHEMA) };
    const { status, body } = await http.call('POST', '/v1/chat/completions', chat);
    expect(status).toBe(200);
    expect(valid(JSON.parse(body.choices[0].message.content))).toBe(true);
    const refused = await http.call('POST', '/v1/chat/completions', { ...chat, response_format: format({ not: {} }) });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: 'unsupported_value', param: 'response_format.json_schema.schema/not' } },
    });
  });

  it('is the arguments of a call that has to be made', async () => {
    const tools = [{ type: 'function', name: 'weather', parameters: SCHEMA }];
    for (const parallel_tool_calls of [true, false]) {
      const request = { model: 'pocket', input: 'Weather?', tools, tool_choice: 'required', parallel_tool_calls };
      const { body } = await http.call('POST', '/v1/responses', { ...request, max_tool_calls: 1 });
      expect(body).toMatchObject({ status: 'completed', output: [{ type: 'function_call', name: 'weather' }] });
      expect(valid(JSON.parse(body.output[0].arguments))).toBe(true);
    }
  });

  it('is had beside functions that may be called', async () => {
    const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
    const request = { model: 'pocket', input: 'What is the weather?', tools, text: { format: FORMAT } };
    const { body } = await http.call('POST', '/v1/responses', request);
    const [item] = body.output;
    if (item.type === 'function_call') expect(item).toMatchObject({ name: 'look', arguments: '{}' });
    else expect(valid(JSON.parse(item.content[0].text))).toBe(true);
  });
});
