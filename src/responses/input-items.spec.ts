import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../tasks/index.js';
import type { InputItemDto } from './dto/input-item.dto.js';
import { givenItems, inputItems, referencesIn } from './input-items.js';
import { promptMessages } from './prompt-messages.js';

const read = (input: string | InputItemDto[], stored: Record<string, JsonObject> = {}): JsonObject[] =>
  inputItems(givenItems(input), 'resp_1', new Map(Object.entries(stored)));
const messages = (input: string | InputItemDto[], instructions?: string) => promptMessages(read(input), instructions);

describe('the input of a request (WIRE B3)', () => {
  it('reads a text as one message of the user', () => {
    expect(messages('Hello')).toEqual([{ role: 'user', content: 'Hello' }]);
    expect(read('Hello')).toMatchObject([
      { type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'Hello' }] },
    ]);
  });

  it('puts instructions first and keeps them out of the items', () => {
    expect(messages('Hello', 'Be brief.')[0]).toEqual({ role: 'system', content: 'Be brief.' });
  });

  it('joins the parts of a message and shows what an assistant said as output', () => {
    const input: InputItemDto[] = [
      {
        role: 'developer',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: 'yes', phase: 'final_answer' },
    ];
    expect(messages(input).map(({ content }) => content)).toEqual(['ab', 'yes']);
    expect(read(input)[1]).toMatchObject({
      phase: 'final_answer',
      content: [{ type: 'output_text', annotations: [] }],
    });
  });

  it('gives every item an id of its own, the same for the same response', () => {
    const input: InputItemDto[] = [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'a' },
    ];
    const ids = read(input).map((item) => item['id']);
    expect(new Set(ids).size).toBe(2);
    expect(read(input).map((item) => item['id'])).toEqual(ids);
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
    expect(messages('  ')[0]?.content).toBe('  ');
    expect(messages('\0')[0]?.content).toBe('\0');
    expect(messages([{ role: 'assistant', content: '' }])).toHaveLength(1);
  });
});

describe('a reference to an item (WIRE B3)', () => {
  const input: InputItemDto[] = [
    { type: 'item_reference', id: 'msg_1' },
    { role: 'user', content: 'b' },
    { type: 'item_reference', id: 'msg_1' },
  ];

  it('becomes the item that it names, under an id of its own each time', () => {
    expect(referencesIn(input)).toEqual(['msg_1', 'msg_1']);
    const stored = { id: 'msg_1', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] };
    const items = read(input, { msg_1: stored });
    expect(items[0]).toEqual({ ...stored, id: items[0]?.['id'] });
    expect(new Set([...items.map(({ id }) => id), 'msg_1']).size).toBe(4);
  });

  it('is refused where nothing has that id', () => {
    expect(() => read(input)).toThrow(expect.objectContaining({ code: 'item_not_found', param: 'input[0].id' }));
  });
});
