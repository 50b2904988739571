import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeEngine, type Piece } from '../support/fake-engine.js';
import { HttpApp, parseEvents } from '../support/http-app.js';

const LOOK = {
  type: 'function' as const,
  function: { name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
};
const WRITTEN = [
  'Let me',
  ' look.\n',
  '<tool_',
  'call>',
  '{"name": "lo',
  'ok", "arguments"',
  ': {"at": ',
  '"home"}',
  '}',
  '</tool_call>',
];
const CALL = {
  id: expect.stringMatching(/^call_/),
  type: 'function',
  function: { name: 'look', arguments: '{"at": "home"}' },
};

let said: Piece[] = WRITTEN;
let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => said }) });
});
afterAll(() => http.close());

const CHAT = { model: 'pocket', messages: [{ role: 'user' as const, content: 'Where?' }], tools: [LOOK] };

describe('function calls in a chat (WIRE B7)', () => {
  it('stand in the message, and are why it ended', async () => {
    const { status, body } = await http.call('POST', '/v1/chat/completions', CHAT);
    expect([status, body.choices[0].finish_reason]).toEqual([200, 'tool_calls']);
    expect(body.choices[0].message).toEqual({
      role: 'assistant',
      content: 'Let me look.',
      refusal: null,
      tool_calls: [CALL],
    });
  });

  it('come in chunks with index, id and name once, and are put together by the openai package', async () => {
    const response = await http.fetch('POST', '/v1/chat/completions', { ...CHAT, stream: true });
    const chunks = parseEvents(await response.text())
      .slice(0, -1)
      .map(({ data }) => JSON.parse(data).choices[0]);
    const pieces = chunks.flatMap(({ delta }) => delta.tool_calls ?? []);
    expect(pieces[0]).toEqual({ ...CALL, index: 0, function: { name: 'look', arguments: '' } });
    expect(pieces.slice(1).every((piece) => piece.index === 0 && !('id' in piece))).toBe(true);
    expect(pieces.map((piece) => piece.function.arguments).join('')).toBe('{"at": "home"}');
    expect(chunks.at(-1).finish_reason).toBe('tool_calls');
    const openai = new OpenAI({ baseURL: `${http.url}/v1`, apiKey: http.token });
    const whole = await openai.chat.completions.stream(CHAT).finalChatCompletion();
    expect(whole.choices[0]?.message.tool_calls).toMatchObject([CALL]);
  });

  it('are sent back with their results', async () => {
    said = ['At home.'];
    const call = { ...CALL, id: 'call_1', type: 'function' as const };
    const messages = [
      ...CHAT.messages,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'a cat' },
    ];
    const { status, body } = await http.call('POST', '/v1/chat/completions', { ...CHAT, messages });
    expect([status, body.choices[0].message.content]).toEqual([200, 'At home.']);
  });

  it.each([
    ['an unnamed function', { tools: [{ type: 'function', function: { name: '' } }] }, 'tools[0].function.name'],
    ['a choice of no tool', { tool_choice: { type: 'function', function: { name: 'go' } } }, 'tool_choice'],
  ])('name %s in the words of a chat', async (_, fields, param) => {
    const { status, body } = await http.call('POST', '/v1/chat/completions', { ...CHAT, ...fields });
    expect([status, body.error?.param.startsWith(param)]).toEqual([400, true]);
  });
});
