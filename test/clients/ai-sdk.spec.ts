import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, embedMany, generateText, streamText, type LanguageModel } from 'ai';
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

const openai = () => createOpenAI({ baseURL: `${http.url}/v1`, apiKey: http.token });
const compatible = () => createOpenAICompatible({ name: 'lmsp', baseURL: `${http.url}/v1`, apiKey: http.token });
const openResponses = () => createOpenResponses({ name: 'lmsp', url: `${http.url}/v1/responses`, apiKey: http.token });

/** What the AI SDK speaks, and with which of our routes. */
const MODELS: [string, (id: string) => LanguageModel][] = [
  ['@ai-sdk/openai, responses', (id) => openai()(id)],
  ['@ai-sdk/openai, chat', (id) => openai().chat(id)],
  ['@ai-sdk/openai, completions', (id) => openai().completion(id)],
  ['@ai-sdk/openai-compatible, chat', (id) => compatible()(id)],
  ['@ai-sdk/openai-compatible, completions', (id) => compatible().completionModel(id)],
  ['@ai-sdk/open-responses', (id) => openResponses()(id)],
];

function* forEver(): Generator<string> {
  for (;;) yield 'a ';
}

describe.each(MODELS)('the AI SDK with %s (WIRE B10.2)', (_, modelOf) => {
  it('generates text, and knows its usage', async () => {
    const { text, usage, finishReason } = await generateText({ model: modelOf('pocket'), prompt: 'Hello' });
    expect([text, finishReason]).toEqual(['Hello, world!', 'stop']);
    expect([usage.inputTokens! > 0, usage.outputTokens]).toEqual([true, 5]);
  });

  it('streams text', async () => {
    const { textStream, finishReason } = streamText({ model: modelOf('pocket'), prompt: 'Hello' });
    const pieces: string[] = [];
    for await (const piece of textStream) pieces.push(piece);
    expect([pieces.join(''), pieces.length > 1, await finishReason]).toEqual(['Hello, world!', true, 'stop']);
  });

  it('stops at a limit, and says so', async () => {
    const { finishReason } = await generateText({ model: modelOf('pocket'), prompt: 'Hello', maxOutputTokens: 2 });
    expect(finishReason).toBe('length');
  });

  it('aborts', async () => {
    script = forEver;
    const gone = new AbortController();
    const { textStream } = streamText({ model: modelOf('pocket'), prompt: 'Hello', abortSignal: gone.signal });
    for await (const piece of textStream) if (piece !== '') gone.abort();
    await waitFor('the stream to be given up', () => http.streams.count === 0);
  });

  it('reads our errors', async () => {
    const refused = generateText({ model: modelOf('nobody'), prompt: 'Hello', maxRetries: 0 });
    const error: unknown = await refused.catch((thrown: unknown) => thrown);
    expect(APICallError.isInstance(error) && [error.statusCode, error.message]).toEqual([
      404,
      expect.stringContaining('nobody'),
    ]);
  });

  it('fails in the middle of a stream, with what came before it', async () => {
    script = () => ['Hello', BROKEN];
    // It would write the error to the console.
    const onError = (): void => undefined;
    const { textStream, finishReason } = streamText({ model: modelOf('pocket'), prompt: 'Hello', onError });
    let text = '';
    for await (const piece of textStream) text += piece;
    expect([text, await finishReason]).toEqual(['Hello', 'error']);
  });
});

describe('the AI SDK', () => {
  it.each([
    ['@ai-sdk/openai', () => openai().embedding('pocket-embed')],
    ['@ai-sdk/openai-compatible', () => compatible().embeddingModel('pocket-embed')],
  ])('makes embeddings with %s', async (_, modelOf) => {
    const { embeddings, usage } = await embedMany({ model: modelOf(), values: ['a cat', 'a dog'] });
    expect(embeddings.map((vector) => vector.length)).toEqual([128, 128]);
    expect(usage.tokens).toBeGreaterThan(0);
  });

  it('goes on from an earlier response by its id', async () => {
    const model = openai()('pocket');
    const first = await generateText({ model, prompt: 'Hello' });
    const previousResponseId = first.providerMetadata!['openai']!['responseId'] as string;
    expect(previousResponseId).toMatch(/^resp_/);
    const second = await generateText({ model, prompt: 'And?', providerOptions: { openai: { previousResponseId } } });
    expect(second.usage.inputTokens).toBeGreaterThan(first.usage.inputTokens!);
  });

  it('sends back what it got, and it is understood', async () => {
    for (const [, modelOf] of MODELS.filter(([name]) => !name.includes('completions'))) {
      const model = modelOf('pocket');
      const first = await generateText({ model, prompt: 'Hello' });
      const second = await generateText({
        model,
        messages: [{ role: 'user', content: 'Hello' }, ...first.response.messages, { role: 'user', content: 'And?' }],
      });
      expect(second.text).toBe('Hello, world!');
      expect(second.usage.inputTokens).toBeGreaterThan(first.usage.inputTokens!);
    }
  });
});
