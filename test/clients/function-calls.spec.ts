import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeEngine } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';

const CALL = ['<tool_call>', '{"name": "weather", ', '"arguments": {"city"', ': "Bern"}}', '</tool_call>'];
const PARAMETERS = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
};
const QUESTION = 'How is the weather in Bern?';

let answers: string[][] = [];
let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => answers.shift() ?? [] }) });
});
beforeEach(() => {
  answers = [CALL, ['It is ', 'sunny.']];
});
afterAll(() => http.close());

const openai = () => new OpenAI({ baseURL: `${http.url}/v1`, apiKey: http.token });
const sdk = () => createOpenAI({ baseURL: `${http.url}/v1`, apiKey: http.token });
const compatible = () => createOpenAICompatible({ name: 'lmsp', baseURL: `${http.url}/v1`, apiKey: http.token });
const openResponses = () => createOpenResponses({ name: 'lmsp', url: `${http.url}/v1/responses`, apiKey: http.token });

const SDK_MODELS: [string, (id: string) => LanguageModel][] = [
  ['@ai-sdk/openai, responses', (id) => sdk()(id)],
  ['@ai-sdk/openai, chat', (id) => sdk().chat(id)],
  ['@ai-sdk/openai-compatible, chat', (id) => compatible()(id)],
  ['@ai-sdk/open-responses', (id) => openResponses()(id)],
];

describe.each(SDK_MODELS)('functions of the AI SDK with %s', (_, modelOf) => {
  const asked: unknown[] = [];
  const tools = {
    weather: tool({
      description: 'The weather in a city',
      inputSchema: jsonSchema<{ city: string }>(PARAMETERS),
      execute: (input) => {
        asked.push(input);
        return Promise.resolve({ sky: 'clear' });
      },
    }),
  };
  beforeEach(() => void asked.splice(0));
  const request = () => ({ model: modelOf('pocket'), prompt: QUESTION, tools, stopWhen: stepCountIs(3) });

  it('are called, and the answer goes on with what they gave', async () => {
    const { text, steps } = await generateText(request());
    expect([text, asked, steps.map(({ finishReason }) => finishReason)]).toEqual([
      'It is sunny.',
      [{ city: 'Bern' }],
      ['tool-calls', 'stop'],
    ]);
  });

  it('are called in a stream', async () => {
    const { fullStream, text } = streamText(request());
    const types = new Set<string>();
    for await (const part of fullStream) types.add(part.type);
    expect(types).toContain('tool-call');
    expect(types).not.toContain('error');
    expect([await text, asked]).toEqual(['It is sunny.', [{ city: 'Bern' }]]);
  });
});

describe.each([
  ['responses', true],
  ['chat completions', false],
])('functions of LangChain over %s', (_, useResponsesApi) => {
  const weather = langchainTool(() => 'clear', { name: 'weather', description: 'of a city', schema: PARAMETERS });
  const chat = () =>
    new ChatOpenAI({
      model: 'pocket',
      useResponsesApi,
      apiKey: http.token,
      configuration: { baseURL: `${http.url}/v1` },
      maxRetries: 0,
    }).bindTools([weather]);

  it('are called, and the answer goes on with what they gave', async () => {
    const question = new HumanMessage(QUESTION);
    const first = await chat().invoke([question]);
    expect(first.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Bern' } }]);
    const result = new ToolMessage({ content: 'clear', tool_call_id: first.tool_calls?.[0]?.id ?? '' });
    expect((await chat().invoke([question, first, result])).text).toBe('It is sunny.');
  });

  it('are called in a stream', async () => {
    let args = '';
    for await (const chunk of await chat().stream([new HumanMessage(QUESTION)])) {
      for (const piece of chunk.tool_call_chunks ?? []) args += piece.args ?? '';
    }
    expect(JSON.parse(args)).toEqual({ city: 'Bern' });
  });
});

describe('functions of the openai package', () => {
  const tools = [{ type: 'function' as const, name: 'weather', parameters: PARAMETERS, strict: false }];

  it('are called in a response, and the next one takes what they gave', async () => {
    const first = await openai().responses.create({ model: 'pocket', input: QUESTION, tools });
    const [call] = first.output;
    expect(call).toMatchObject({ type: 'function_call', name: 'weather', arguments: '{"city": "Bern"}' });
    if (call?.type !== 'function_call') throw new Error('no call');
    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'clear' };
    const second = await openai().responses.create({
      model: 'pocket',
      previous_response_id: first.id,
      input: [output],
      tools,
    });
    expect(second.output_text).toBe('It is sunny.');
  });

  it('are streamed by its helper', async () => {
    const stream = openai().responses.stream({ model: 'pocket', input: QUESTION, tools });
    let args = '';
    stream.on('response.function_call_arguments.delta', ({ delta }) => (args += delta));
    const { output } = await stream.finalResponse();
    expect([args, output[0]?.type]).toEqual(['{"city": "Bern"}', 'function_call']);
  });

  it('are run by its runner over chat completions', async () => {
    const runner = openai().chat.completions.runTools({
      model: 'pocket',
      messages: [{ role: 'user', content: QUESTION }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'of a city',
            parameters: PARAMETERS,
            parse: JSON.parse,
            function: () => 'clear',
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('It is sunny.');
  });
});
