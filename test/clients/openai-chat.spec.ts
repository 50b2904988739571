import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BROKEN, FakeEngine, type Piece } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
let openai: OpenAI;
let script: () => Iterable<Piece>;
beforeEach(async () => {
  script = () => ['Hello', ', ', 'world', '!'];
  http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => script() }) });
  openai = new OpenAI({ baseURL: `${http.url}/v1`, apiKey: http.token });
});
afterEach(() => http.close());

const CHAT = { model: 'pocket', messages: [{ role: 'user' as const, content: 'Hello' }] };

function* forEver(): Generator<string> {
  for (;;) yield 'a ';
}

describe('chats of the openai package for Node, unchanged (WIRE B10.1)', () => {
  it('come whole', async () => {
    const chat = await openai.chat.completions.create(CHAT);
    expect(chat.choices[0]).toMatchObject({ message: { content: 'Hello, world!' }, finish_reason: 'stop' });
    expect(chat.usage?.total_tokens).toBe(chat.usage!.prompt_tokens + chat.usage!.completion_tokens);
  });

  it('come in chunks, with their usage', async () => {
    const stream = await openai.chat.completions.create({
      ...CHAT,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    const usages: unknown[] = [];
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? '';
      if (usage) usages.push(usage);
    }
    expect([text, usages.length]).toEqual(['Hello, world!', 1]);
  });

  it('are put together by its helper', async () => {
    const helper = openai.chat.completions.stream(CHAT);
    const { choices } = await helper.finalChatCompletion();
    expect(choices[0]).toMatchObject({ message: { content: 'Hello, world!' }, finish_reason: 'stop' });
  });

  it('end when they are aborted', async () => {
    script = forEver;
    const stream = await openai.chat.completions.create({ ...CHAT, stream: true });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    await waitFor('the stream to be given up', () => http.streams.count === 0);
    const helper = openai.chat.completions.stream(CHAT);
    helper.on('content', () => helper.abort());
    await expect(helper.done()).rejects.toThrow(OpenAI.APIUserAbortError);
    await waitFor('the stream to be given up', () => http.streams.count === 0);
  });

  it('fail with our errors, before the stream and in it', async () => {
    const unknown = openai.chat.completions.create({ ...CHAT, model: 'nobody', stream: true });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    const images = { role: 'user' as const, content: [{ type: 'image_url' as const, image_url: { url: 'x' } }] };
    const refused = openai.chat.completions.create({ ...CHAT, messages: [images] });
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'messages[0].content[0].type' });
    script = () => ['Hello', BROKEN];
    const stream = await openai.chat.completions.create({ ...CHAT, stream: true });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.object).toBe('chat.completion.chunk');
    };
    await expect(read()).rejects.toMatchObject({ code: 'model_error', type: 'model_error' });
  });

  it('give the older completions, whole and in chunks', async () => {
    const prompt = { model: 'pocket', prompt: 'Once upon' };
    expect((await openai.completions.create(prompt)).choices[0]?.text).toBe('Hello, world!');
    let text = '';
    for await (const { choices } of await openai.completions.create({ ...prompt, stream: true })) {
      text += choices[0]?.text ?? '';
    }
    expect(text).toBe('Hello, world!');
  });

  it('are counted by responses.inputTokens', async () => {
    const counted = await openai.responses.inputTokens.count({ model: 'pocket', input: 'Hello' });
    const { usage } = await openai.responses.create({ model: 'pocket', input: 'Hello' });
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: usage?.input_tokens });
  });
});
