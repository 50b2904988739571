import { OpenAI as LangChainCompletions, ChatOpenAI } from '@langchain/openai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BROKEN, FakeEngine, type Piece } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

/** How answers end otherwise than well, as the packages show it: at a limit, given up, refused, failed on the way. */

let http: HttpApp;
let openai: OpenAI;
let script: () => Iterable<Piece>;
beforeAll(async () => {
  http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => script() }) });
  openai = new OpenAI({ baseURL: `${http.url}/v1`, apiKey: http.token, maxRetries: 0 });
});
beforeEach(() => {
  script = () => ['Hello', ', ', 'world', '!'];
});
afterAll(() => http.close());

const RESPONSE = { model: 'pocket', input: 'Hello' };
const CHAT = { model: 'pocket', messages: [{ role: 'user' as const, content: 'Hello' }] };
const COMPLETION = { model: 'pocket', prompt: 'Once upon' };

function* forEver(): Generator<string> {
  for (;;) yield 'a ';
}

const allGivenUp = () => waitFor('the stream to be given up', () => http.streams.count === 0);

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const part of stream) void part;
}

describe('responses of the openai package', () => {
  it('are incomplete at their limit', async () => {
    const response = await openai.responses.create({ ...RESPONSE, max_output_tokens: 2 });
    expect([response.status, response.incomplete_details?.reason]).toEqual(['incomplete', 'max_output_tokens']);
  });

  it('end when they are aborted', async () => {
    script = forEver;
    for await (const event of await openai.responses.create({ ...RESPONSE, stream: true })) {
      if (event.type === 'response.output_text.delta') break;
    }
    await allGivenUp();
  });

  it('fail in a stream, with what came before', async () => {
    script = () => ['Hello', BROKEN];
    const types: string[] = [];
    const read = async (): Promise<void> => {
      for await (const event of await openai.responses.create({ ...RESPONSE, stream: true })) types.push(event.type);
    };
    await read().catch(() => undefined);
    expect(types).toContain('response.output_text.delta');
    await expect(openai.responses.create(RESPONSE)).rejects.toMatchObject({ status: 500, code: 'model_error' });
  });
});

describe('chats of the openai package', () => {
  it('end at their limit', async () => {
    const { choices } = await openai.chat.completions.create({ ...CHAT, max_completion_tokens: 2 });
    expect(choices[0]?.finish_reason).toBe('length');
  });

  it('take back what they gave', async () => {
    const first = await openai.chat.completions.create(CHAT);
    const messages = [...CHAT.messages, first.choices[0]!.message, { role: 'user' as const, content: 'And?' }];
    const second = await openai.chat.completions.create({ ...CHAT, messages });
    expect(second.usage!.prompt_tokens).toBeGreaterThan(first.usage!.prompt_tokens);
  });
});

describe('completions of the openai package', () => {
  it('know their usage, and end at their limit', async () => {
    const { choices, usage } = await openai.completions.create({ ...COMPLETION, max_tokens: 2 });
    expect([choices[0]?.finish_reason, usage?.completion_tokens]).toEqual(['length', 2]);
  });

  it('end when they are aborted', async () => {
    script = forEver;
    const stream = await openai.completions.create({ ...COMPLETION, max_tokens: 4000, stream: true });
    for await (const { choices } of stream) if (choices[0]?.text) break;
    await allGivenUp();
  });

  it('fail before a stream and in it', async () => {
    const unknown = openai.completions.create({ ...COMPLETION, model: 'nobody' });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    script = () => ['Hello', BROKEN];
    const stream = await openai.completions.create({ ...COMPLETION, stream: true });
    await expect(drain(stream)).rejects.toMatchObject({ code: 'model_error' });
  });
});

const access = () => ({ apiKey: http.token, configuration: { baseURL: `${http.url}/v1` }, maxRetries: 0 });

describe('LangChain', () => {
  it.each([true, false])('says that an answer was cut (responses: %s)', async (useResponsesApi) => {
    const model = new ChatOpenAI({ model: 'pocket', useResponsesApi, maxTokens: 2, ...access() });
    const { response_metadata: told } = await model.invoke('Hello');
    expect(JSON.stringify(told)).toMatch(useResponsesApi ? 'max_output_tokens' : 'length');
  });

  it('streams, counts, cuts, gives up and fails the older completions', async () => {
    const model = (fields = {}) => new LangChainCompletions({ model: 'pocket', ...fields, ...access() });
    let text = '';
    for await (const piece of await model().stream('Once')) text += piece;
    expect(text).toBe('Hello, world!');
    const { generations, llmOutput } = await model({ maxTokens: 2 }).generate(['Once']);
    expect(llmOutput).toMatchObject({ tokenUsage: { completionTokens: 2 } });
    expect(generations[0]![0]!.generationInfo).toMatchObject({ finishReason: 'length' });
    script = forEver;
    for await (const piece of await model({ maxTokens: 4000 }).stream('Once')) if (piece) break;
    await allGivenUp();
    await expect(model({ model: 'nobody' }).invoke('Once')).rejects.toMatchObject({ status: 404 });
    script = () => ['Hello', BROKEN];
    await expect(drain(await model().stream('Once'))).rejects.toThrow();
  });
});
