import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import type { InputMessageDto } from './dto/input-message.dto.js';
import { readInput } from './request-input.js';

const read = (input: string | InputMessageDto[], instructions?: string) =>
  readInput({ model: 'm', input, ...(instructions && { instructions }) }, 'resp_1');

describe('the input of a request (WIRE B3)', () => {
  it('reads a text as one message of the user', () => {
    const { messages, items } = read('Hello');
    expect(messages).toEqual([{ role: 'user', content: 'Hello' }]);
    expect(items).toMatchObject([
      { type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'Hello' }] },
    ]);
  });

  it('puts instructions first and keeps them out of the items', () => {
    const { messages, items } = read('Hello', 'Be brief.');
    expect(messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
    expect(items).toHaveLength(1);
  });

  it('joins the parts of a message and shows what an assistant said as output', () => {
    const { messages, items } = read([
      {
        role: 'developer',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: 'yes', phase: 'final_answer' },
    ]);
    expect(messages.map(({ content }) => content)).toEqual(['ab', 'yes']);
    expect(items[1]).toMatchObject({ phase: 'final_answer', content: [{ type: 'output_text', annotations: [] }] });
  });

  it('gives every item an id of its own, the same for the same response', () => {
    const input: InputMessageDto[] = [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'a' },
    ];
    const ids = read(input).items.map((item) => item['id']);
    expect(new Set(ids).size).toBe(2);
    expect(read(input).items.map((item) => item['id'])).toEqual(ids);
  });

  it.each([[''], [[]], [[{ type: 'input_text' as const, text: '' }]]])(
    'refuses a message with the content %j and names it (CASES BL-24)',
    (content) => {
      expect(() =>
        read([
          { role: 'user', content: 'a' },
          { role: 'user', content },
        ]),
      ).toThrow(expect.objectContaining({ code: 'invalid_value', param: 'input[1].content' }));
    },
  );

  it('takes spaces, a NUL, and an assistant that had said nothing', () => {
    expect(read('  ').messages[0]?.content).toBe('  ');
    expect(read('\0').messages[0]?.content).toBe('\0');
    expect(read([{ role: 'assistant', content: '' }]).messages).toHaveLength(1);
  });
});
