import { describe, expect, it } from 'vitest';
import { DomainError } from '../errors/index.js';
import { responseOfChat } from './chat-request.js';

const chat = (fields: object) => responseOfChat({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields });

const CALL = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{}' } };

describe('a chat as a request for a response', () => {
  it('is not stored, whatever it asks for', () => {
    expect(chat({ store: true }).body).toEqual({
      model: 'm',
      store: false,
      input: [{ type: 'message', role: 'user', content: 'Hi' }],
    });
  });

  it('keeps the order of messages, calls and results', () => {
    const messages = [
      {
        role: 'system',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: 'Let me', tool_calls: [CALL, { ...CALL, id: 'call_2' }] },
      { role: 'tool', tool_call_id: 'call_1', content: '3' },
      { role: 'assistant', tool_calls: [CALL] },
      { role: 'assistant', content: null },
    ];
    const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' };
    expect(chat({ messages }).body['input']).toEqual([
      { type: 'message', role: 'system', content: 'ab' },
      { type: 'message', role: 'assistant', content: 'Let me' },
      call,
      { ...call, call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_1', output: '3' },
      call,
      { type: 'message', role: 'assistant', content: '' },
    ]);
  });

  it('asks for tools, formats and probabilities in the words of a response', () => {
    const tool = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } };
    const { body } = chat({
      tools: [tool],
      tool_choice: { type: 'function', function: { name: 'add' } },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
      verbosity: 'low',
      reasoning_effort: 'low',
      logprobs: true,
      top_logprobs: 2,
      max_tokens: 5,
    });
    expect(body).toMatchObject({
      tools: [{ type: 'function', name: 'add', parameters: { type: 'object' }, strict: false }],
      tool_choice: { type: 'function', name: 'add' },
      text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true }, verbosity: 'low' },
      reasoning: { effort: 'low' },
      include: ['message.output_text.logprobs'],
      top_logprobs: 2,
      max_output_tokens: 5,
    });
    const mode = {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'add' } }] },
    };
    expect(chat({ tool_choice: mode }).body['tool_choice']).toEqual({
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: 'add' }],
    });
    expect(chat({ max_tokens: 5, max_completion_tokens: 6 }).body['max_output_tokens']).toBe(6);
    expect(chat({ tool_choice: 'auto', response_format: { type: 'json_object' } }).body).toMatchObject({
      tool_choice: 'auto',
      text: { format: { type: 'json_object' } },
    });
  });

  it.each([
    ['input', 'messages'],
    ['input[0].content', 'messages[0].content'],
    ['input[1].call_id', 'messages[1].tool_calls[0].id'],
    ['input[1].arguments', 'messages[1].tool_calls[0].function.arguments'],
    ['input[2]', 'messages[2]'],
    ['input[2].call_id', 'messages[2].tool_call_id'],
    ['max_output_tokens', 'max_tokens'],
    ['text.format.schema.properties', 'response_format.json_schema.schema.properties'],
    ['text.format.type', 'response_format.type'],
    ['tools[0].name', 'tools[0].function.name'],
    ['tools[0].type', 'tools[0].type'],
    ['tools', 'tools'],
    ['inputs', 'inputs'],
    ['stop[1]', 'stop[1]'],
  ])('calls %s %s in errors', (ours, theirs) => {
    const { names } = chat({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'call_1', content: '3' },
      ],
      tools: [{ type: 'function', function: { name: 'add' } }],
    });
    const error = names.inTheirs(new DomainError('invalid_value', `'${ours}' is wrong.`, { param: ours }));
    expect([error.param, error.message, error.code]).toEqual([theirs, `'${theirs}' is wrong.`, 'invalid_value']);
  });

  it.each<[string, object, string]>([
    ['a user who says nothing', { messages: [{ role: 'user' }] }, 'messages[0].content'],
    [
      'a part without its text',
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages[0].content[0].text',
    ],
    ['a result of no call', { messages: [{ role: 'tool', content: '3' }] }, 'messages[0].tool_call_id'],
    ['likeliest tokens alone', { top_logprobs: 1 }, 'top_logprobs'],
  ])('refuses %s', (_, fields, param) => {
    expect(() => chat(fields)).toThrow(expect.objectContaining({ param }));
  });
});
