import { describe, expect, it } from 'vitest';
import type { ResponseObject } from '../responses/index.js';
import { ChatView } from './chat-view.js';
import type { ReadItem, ResponseEvent } from './response-event.js';

const USAGE = {
  input_tokens: 7,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 10,
};

function responseWith(output: ReadItem[], status = 'completed'): ResponseObject {
  const response = { id: 'resp_1', created_at: 5, model: 'm', service_tier: 'default', status, output, usage: USAGE };
  return response as unknown as ResponseObject;
}

const HEAD = {
  id: 'chatcmpl-1',
  created: 5,
  model: 'm',
  service_tier: 'default',
  system_fingerprint: expect.any(String),
};
const CHUNK = { ...HEAD, object: 'chat.completion.chunk' };
const FIRST = { role: 'assistant', content: '', refusal: null };
const CALL: ReadItem = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1}' };
const LOGPROBS = [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }];

const said = (text: string, logprobs: unknown[] = []): ReadItem => ({
  type: 'message',
  content: [{ type: 'output_text', text, logprobs }],
});
const text = (delta: string): ResponseEvent => ({ type: 'response.output_text.delta', delta, logprobs: [] });
const called = (item: ReadItem, at: number): ResponseEvent => ({
  type: 'response.output_item.added',
  item: { ...item, arguments: '' },
  output_index: at,
});
const args = (delta: string, at: number): ResponseEvent => ({
  type: 'response.function_call_arguments.delta',
  delta,
  output_index: at,
});
const end = (output: ReadItem[], status?: string): ResponseEvent => ({
  type: `response.${status ?? 'completed'}`,
  response: responseWith(output, status),
});

function chunksOf(events: ResponseEvent[], usage = false): unknown[] {
  const view = new ChatView(responseWith([]), usage);
  return events.flatMap((event) => view.chunks(event));
}

// Chunks are read as what they are on the wire.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const choicesOf = (chunks: unknown[]): any[] => chunks.map((chunk) => (chunk as { choices: unknown[] }).choices[0]);

describe('the chunks of a chat (WIRE-FACTS A8)', () => {
  it('are the role, the pieces of text, and the reason of the end', () => {
    const events = [{ type: 'response.created' }, { type: 'response.in_progress' }, text('Hel'), text('lo')];
    expect(chunksOf([...events, end([said('Hello')])])).toEqual(
      [
        { delta: FIRST, finish_reason: null },
        { delta: { content: 'Hel' }, finish_reason: null },
        { delta: { content: 'lo' }, finish_reason: null },
        { delta: {}, finish_reason: 'stop' },
      ].map((choice) => ({ ...CHUNK, choices: [{ index: 0, logprobs: null, ...choice }] })),
    );
  });

  it('tell the usage in a last one without choices, and null in the others, where it is asked for', () => {
    const chunks = chunksOf([text('a'), end([said('a')])], true) as { choices: unknown[]; usage: unknown }[];
    expect(chunks.slice(0, -1).map(({ usage }) => usage)).toEqual([null, null, null]);
    expect(chunks.at(-1)).toEqual({
      ...CHUNK,
      choices: [],
      usage: {
        prompt_tokens: 7,
        completion_tokens: 3,
        total_tokens: 10,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    });
  });

  it('say who speaks also where nothing is said, and that the limit was the end', () => {
    const choices = choicesOf(chunksOf([end([said('')], 'incomplete')]));
    expect(choices.map(({ delta, finish_reason: finish }) => [delta, finish])).toEqual([
      [FIRST, null],
      [{}, 'length'],
    ]);
  });

  it('name a call once, by its place among the calls, then give pieces of its arguments (WIRE B7)', () => {
    const second = { ...CALL, call_id: 'call_2' };
    const events = [text('Let me'), called(CALL, 1), args('{"a"', 1), args(':1}', 1), called(second, 2), args('{}', 2)];
    const choices = choicesOf(chunksOf([...events, end([said('Let me'), CALL, second])]));
    expect(choices.slice(2, -1).map(({ delta }) => delta.tool_calls[0])).toEqual([
      { index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '' } },
      { index: 0, function: { arguments: '{"a"' } },
      { index: 0, function: { arguments: ':1}' } },
      { index: 1, id: 'call_2', type: 'function', function: { name: 'add', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ]);
    expect(choices.at(-1).finish_reason).toBe('tool_calls');
  });

  it('show the thoughts of a model apart from its answer', () => {
    const choices = choicesOf(chunksOf([{ type: 'response.reasoning_summary_text.delta', delta: 'Hm' }, text('a')]));
    expect(choices.map(({ delta }) => delta)).toEqual([FIRST, { reasoning_content: 'Hm' }, { content: 'a' }]);
  });

  it('carry the log probabilities of their tokens', () => {
    const [, chunk] = choicesOf(chunksOf([{ ...text('a'), logprobs: LOGPROBS }]));
    expect(chunk.logprobs).toEqual({ content: LOGPROBS, refusal: null });
  });
});

describe('a whole chat completion (WIRE B7)', () => {
  const whole = (output: ReadItem[], status?: string) =>
    new ChatView(responseWith([]), false).whole(responseWith(output, status));

  it('has the text, the usage and the reason of the end', () => {
    expect(whole([said('Hello')])).toEqual({
      ...HEAD,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: expect.objectContaining({ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }),
    });
  });

  it('has null for the content where functions are called without a word', () => {
    expect(whole([CALL])).toMatchObject({
      choices: [
        {
          message: {
            content: null,
            tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    });
  });

  it('has thoughts, log probabilities and the limit', () => {
    const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] };
    expect(whole([thought, said('a', LOGPROBS)], 'incomplete')).toMatchObject({
      choices: [
        {
          message: { content: 'a', reasoning_content: 'Hm' },
          logprobs: { content: LOGPROBS, refusal: null },
          finish_reason: 'length',
        },
      ],
    });
  });
});
