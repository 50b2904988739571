import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, Output, streamText, type LanguageModel } from 'ai';
import { Ajv2020 } from 'ajv/dist/2020.js';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { realEngine } from '../contract/pocket.js';
import { HttpApp } from '../support/http-app.js';

const SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const, maxLength: 20 }, sky: { enum: ['clear', 'cloudy'] } },
  required: ['city', 'sky'],
  additionalProperties: false,
};
const NAMED = { name: 'weather', schema: SCHEMA, strict: true };
const QUESTION = 'What is the weather?';
const isValid = new Ajv2020().compile(SCHEMA);

let http: HttpApp;
const access = () => ({ baseURL: `${http.url}/v1`, apiKey: http.token });
beforeAll(async () => {
  http = await HttpApp.start({ otherEngine: realEngine() });
});
afterAll(() => http.close());

describe('output by a JSON schema, as clients ask for it (WIRE B10.2)', () => {
  it('comes parsed from the openai package', async () => {
    const openai = new OpenAI(access());
    const response = await openai.responses.parse({
      model: 'pocket',
      input: QUESTION,
      text: { format: { type: 'json_schema', ...NAMED } },
    });
    expect(isValid(response.output_parsed)).toBe(true);
    const chat = await openai.chat.completions.parse({
      model: 'pocket',
      messages: [{ role: 'user', content: QUESTION }],
      response_format: { type: 'json_schema', json_schema: NAMED },
    });
    expect(isValid(chat.choices[0]?.message.parsed)).toBe(true);
  });

  const compatible = () => createOpenAICompatible({ name: 'lmsp', ...access(), supportsStructuredOutputs: true });
  const MODELS: [string, () => LanguageModel][] = [
    ['@ai-sdk/openai, responses', () => createOpenAI(access())('pocket')],
    ['@ai-sdk/openai, chat', () => createOpenAI(access()).chat('pocket')],
    ['@ai-sdk/openai-compatible, chat', () => compatible()('pocket')],
    [
      '@ai-sdk/open-responses',
      () => createOpenResponses({ name: 'lmsp', url: `${http.url}/v1/responses`, apiKey: http.token })('pocket'),
    ],
  ];
  it.each(MODELS)('comes as an object, whole and streamed, from the AI SDK with %s', async (_, modelOf) => {
    const output = Output.object({ schema: jsonSchema(SCHEMA) });
    const whole = await generateText({ model: modelOf(), prompt: QUESTION, output });
    expect(isValid(whole.output)).toBe(true);
    const stream = streamText({ model: modelOf(), prompt: QUESTION, output });
    expect(isValid(await stream.output)).toBe(true);
  });

  it.each([true, false])('comes as an object from LangChain (responses: %s)', async (useResponsesApi) => {
    const chat = new ChatOpenAI({
      model: 'pocket',
      useResponsesApi,
      apiKey: http.token,
      configuration: { baseURL: `${http.url}/v1` },
    });
    const model = chat.withStructuredOutput(SCHEMA, { name: 'weather', method: 'jsonSchema' });
    expect(isValid(await model.invoke(QUESTION))).toBe(true);
  });
});
