import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BROKEN, FakeEngine, type Piece } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
let script: () => Iterable<Piece>;
beforeAll(async () => {
  http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => script() }) });
});
beforeEach(() => {
  script = () => ['Hello', ', ', 'world', '!'];
});
afterAll(() => http.close());

const access = () => ({ apiKey: http.token, configuration: { baseURL: `${http.url}/v1` }, maxRetries: 0 });
const MESSAGES = [
  new SystemMessage('Be brief.'),
  new HumanMessage('Hello'),
  new AIMessage('Hi'),
  new HumanMessage('?'),
];

function* forEver(): Generator<string> {
  for (;;) yield 'a ';
}

describe.each([
  ['responses', true],
  ['chat completions', false],
])('LangChain over %s (WIRE B10.2)', (_, useResponsesApi) => {
  const chat = (model = 'pocket') => new ChatOpenAI({ model, useResponsesApi, ...access() });

  it('answers, and knows its usage', async () => {
    const answer = await chat().invoke(MESSAGES);
    expect(answer.text).toBe('Hello, world!');
    expect(answer.usage_metadata).toMatchObject({ output_tokens: 5 });
  });

  it('streams, and knows its usage', async () => {
    let text = '';
    let tokens = 0;
    for await (const chunk of await chat().stream(MESSAGES)) {
      text += chunk.text;
      tokens += chunk.usage_metadata?.output_tokens ?? 0;
    }
    expect([text, tokens]).toEqual(['Hello, world!', 5]);
  });

  it('aborts', async () => {
    script = forEver;
    const gone = new AbortController();
    const read = async (): Promise<void> => {
      for await (const chunk of await chat().stream(MESSAGES, { signal: gone.signal })) if (chunk.text) gone.abort();
    };
    await read().catch(() => undefined);
    await waitFor('the stream to be given up', () => http.streams.count === 0);
  });

  it('reads our errors, before the stream and in it', async () => {
    await expect(chat('nobody').invoke(MESSAGES)).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    script = () => ['Hello', BROKEN];
    const read = async (): Promise<void> => {
      for await (const chunk of await chat().stream(MESSAGES)) expect('Hello').toContain(chunk.text);
    };
    await expect(read()).rejects.toThrow();
  });
});

describe('LangChain', () => {
  it('goes on from a text with the older completions', async () => {
    const model = new OpenAI({ model: 'pocket', ...access() });
    expect(await model.invoke('Once upon')).toBe('Hello, world!');
  });

  it('makes embeddings', async () => {
    const embeddings = new OpenAIEmbeddings({ model: 'pocket-embed', ...access() });
    const vectors = await embeddings.embedDocuments(['a cat', 'a dog']);
    expect(vectors.map((vector) => vector.length)).toEqual([128, 128]);
    expect(await embeddings.embedQuery('a cat')).toHaveLength(128);
  });
});
