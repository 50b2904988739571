import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
let openai: OpenAI;
let calls: number;
beforeAll(async () => {
  http = await HttpApp.start();
  const counted: typeof fetch = (url, init) => {
    calls += 1;
    return fetch(url, init);
  };
  openai = new OpenAI({ baseURL: `${http.url}/v1`, apiKey: http.token, fetch: counted });
});
afterAll(() => http.close());

/** A background response at its end. */
async function completed(): Promise<string> {
  const { id } = await openai.responses.create({ model: 'pocket', input: 'Hello', background: true });
  for (;;) {
    const { status } = await openai.responses.retrieve(id);
    if (status === 'completed') return id;
  }
}

describe('the openai package for Node, unchanged (WIRE B10.1)', () => {
  it('creates in the foreground', async () => {
    const response = await openai.responses.create({ model: 'pocket', input: 'Hello' });
    expect([response.status, response.output_text]).toEqual(['completed', 'Hello, world!']);
  });

  it('creates with a stream, and reads it with its helper', async () => {
    let text = '';
    for await (const event of await openai.responses.create({ model: 'pocket', input: 'Hello', stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    expect(text).toBe('Hello, world!');
    const helper = openai.responses.stream({ model: 'pocket', input: 'Hello' });
    expect((await helper.finalResponse()).output_text).toBe('Hello, world!');
  });

  it('sees the 202 of a background create, and polls', async () => {
    const request = openai.responses.create({ model: 'pocket', input: 'Hello', background: true });
    const { data, response } = await request.withResponse();
    expect([response.status, data.status]).toEqual([202, 'queued']);
    expect((await openai.responses.retrieve(await completed())).output_text).toBe('Hello, world!');
  });

  it('streams again from a sequence number', async () => {
    const id = await completed();
    const numbers = async (after?: number): Promise<number[]> => {
      const cursor = after === undefined ? {} : { starting_after: after };
      const seen: number[] = [];
      for await (const event of await openai.responses.retrieve(id, { stream: true, ...cursor })) {
        seen.push(event.sequence_number);
      }
      return seen;
    };
    const whole = await numbers();
    expect(await numbers(3)).toEqual(whole.slice(4));
    const helper = openai.responses.stream({ response_id: id, starting_after: 5 });
    expect((await helper.finalResponse()).status).toBe('completed');
  });

  it('cancels, and cancels again', async () => {
    http.engine.hold('steps');
    const { id } = await openai.responses.create({ model: 'pocket', input: 'Hello', background: true });
    expect((await openai.responses.cancel(id)).status).toBe('cancelled');
    expect((await openai.responses.cancel(id)).status).toBe('cancelled');
    http.engine.release('steps');
  });

  it('lists input items over pages, and deletes', async () => {
    const input = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }));
    const { id } = await openai.responses.create({ model: 'pocket', input });
    const roles: unknown[] = [];
    for await (const item of openai.responses.inputItems.list(id, { limit: 2 })) roles.push(item.type);
    expect(roles).toEqual(['message', 'message', 'message']);
    await openai.responses.delete(id);
    await expect(openai.responses.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'response_not_found' });
  });

  it('reads our errors, and does not repeat a 409 that would never change', async () => {
    await expect(openai.responses.create({ model: 'pocket', input: '' })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'input',
      type: 'invalid_request_error',
    });
    http.engine.hold('steps');
    const { id } = await openai.responses.create({ model: 'pocket', input: 'Hello', background: true });
    calls = 0;
    await expect(openai.responses.delete(id)).rejects.toMatchObject({ status: 409 });
    expect(calls).toBe(1);
    http.engine.release('steps');
  });

  it('repeats a create by its key, and of itself until a running one has ended (WIRE B6)', async () => {
    const body = { model: 'pocket', input: 'Hello' };
    const headers = { 'Idempotency-Key': 'once' };
    http.engine.hold('steps');
    const first = openai.responses.create(body, { headers });
    await waitFor('the first to run', async () => {
      const { data } = (await http.call('GET', '/v1/tasks?status=running')).body;
      return data.length > 0;
    });
    calls = 0;
    const repeat = openai.responses.create(body, { headers }).withResponse();
    await waitFor('the repeat to be told to come again', () => http.requests.some(({ status }) => status === 409));
    http.engine.release('steps');
    const { data, response } = await repeat;
    expect([data.id, response.headers.get('idempotent-replayed')]).toEqual([(await first).id, 'true']);
    expect(calls).toBe(2);
    await expect(openai.responses.create({ ...body, input: 'Bye' }, { headers })).rejects.toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
    });
    expect(calls).toBe(3);
  });

  it('makes embeddings, which it asks for in base64 and decodes itself', async () => {
    const input = ['How do I reset my password?', 'I cannot log in'];
    const packed = await openai.embeddings.create({ model: 'pocket-embed', input });
    const floats = await openai.embeddings.create({ model: 'pocket-embed', input, encoding_format: 'float' });
    expect(packed.data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
      [0, 128],
      [1, 128],
    ]);
    packed.data.forEach(({ embedding }, i) => {
      embedding.forEach((value, at) => expect(value).toBeCloseTo(floats.data[i]!.embedding[at]!, 5));
    });
    expect(packed.usage).toEqual(floats.usage);
  });

  it('lists models', async () => {
    const models = await openai.models.list();
    expect(models.data.map(({ id }) => id)).toContain('pocket');
    expect((await openai.models.retrieve('pocket')).object).toBe('model');
  });
});
