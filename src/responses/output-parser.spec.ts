import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputParser, type OutputPiece } from './output-parser.js';
import type { OutputSyntax } from './output-syntax.js';

const TAGS = { open: '<tool_call>\n', close: '\n</tool_call>', argumentsKey: 'arguments' } as const;
const LIST = { open: '[TOOL_CALLS][', close: ']', argumentsKey: 'arguments' } as const;
const BARE = { open: '', close: '', argumentsKey: 'parameters' } as const;

const syntax = (form: typeof TAGS | typeof LIST | typeof BARE, more: Partial<OutputSyntax> = {}): OutputSyntax => ({
  reasoning: null,
  calls: { form, names: ['look', 'go'], most: null },
  ...more,
});

/** One line an item: what the pieces say, however the text was cut. */
function read(text: string, by: OutputSyntax, cuts: number[] = []): string[] {
  const parser = new OutputParser(by);
  const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  const pieces: OutputPiece[] = [];
  let at = 0;
  for (const end of [...ends, text.length]) {
    pieces.push(...parser.push(text.slice(at, end)));
    at = end;
  }
  return lines([...pieces, ...parser.end()]);
}

function lines(pieces: OutputPiece[]): string[] {
  const said: string[] = [];
  let before = '';
  for (const piece of pieces) {
    if (!('text' in piece)) said.push(piece.kind === 'call' ? `call ${piece.name}` : endOf(piece));
    else if (piece.kind === before) said.push(`${said.pop()}${piece.text}`);
    else said.push(`${piece.kind} ${piece.text}`);
    before = piece.kind;
  }
  return said;
}

const endOf = (piece: OutputPiece): string =>
  piece.kind === 'call_end' && !piece.whole ? 'call_end early' : piece.kind;

const CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "}\\"<"}}\n</tool_call>';
const CALLED = ['call look', 'arguments {"at": "}\\"<"}', 'call_end'];
const THINKS: Partial<OutputSyntax> = { reasoning: 'possible' };

const CASES: [name: string, text: string, by: OutputSyntax, expected: string[]][] = [
  ['text alone', ' Hello <b>world</b>. \n', syntax(TAGS), ['text  Hello <b>world</b>. \n']],
  ['a call', CALL, syntax(TAGS), CALLED],
  ['a call without line breaks', CALL.replaceAll('\n', ''), syntax(TAGS), CALLED],
  ['text and two calls', `So: \n${CALL}\n${CALL}\n`, syntax(TAGS), ['text So:', ...CALLED, ...CALLED]],
  ['text behind a call', `${CALL}\nDone. `, syntax(TAGS), [...CALLED, 'text Done. ']],
  [
    'members in another order',
    '<tool_call>{"id": 1, "arguments": {"a": [1]}, "name": "go"}</tool_call>',
    syntax(TAGS),
    ['call go', 'arguments {"a":[1]}', 'call_end'],
  ],
  [
    'arguments as a text',
    '<tool_call>{"name": "go", "arguments": "{\\"a\\":1}"}</tool_call>',
    syntax(TAGS),
    ['call go', 'arguments {"a":1}', 'call_end'],
  ],
  [
    'further members',
    '<tool_call>{"name": "go", "arguments": {}, "id": "}"}</tool_call>',
    syntax(TAGS),
    ['call go', 'arguments {}', 'call_end'],
  ],
  ['a function nobody has', CALL.replace('look', 'buy'), syntax(TAGS), [`text ${CALL.replace('look', 'buy')}`]],
  ['no object', '<tool_call>look()</tool_call>', syntax(TAGS), ['text <tool_call>look()</tool_call>']],
  ['a head that ends early', 'So: <tool_call>\n{"name": "lo', syntax(TAGS), ['text So:<tool_call>\n{"name": "lo']],
  [
    'arguments that end early',
    '<tool_call>{"name": "look", "arguments": {"a": ',
    syntax(TAGS),
    ['call look', 'arguments {"a": ', 'call_end early'],
  ],
  [
    'arguments that are no JSON',
    '<tool_call>{"name": "look", "arguments": {"a": 1</tool_call>\nSorry.',
    syntax(TAGS),
    ['call look', 'arguments {"a": 1', 'call_end early', 'text Sorry.'],
  ],
  ['half a marker at the end', 'a <tool_', syntax(TAGS), ['text a <tool_']],
  [
    'a list',
    '[TOOL_CALLS] [{"name": "look", "arguments": {}}, {"name": "go", "arguments": {"a":1}}]',
    syntax(LIST),
    ['call look', 'arguments {}', 'call_end', 'call go', 'arguments {"a":1}', 'call_end'],
  ],
  ['a bare call', ' {"name": "look", "parameters": {"a": 1}}', syntax(BARE), ['call look', 'arguments {"a": 1}']],
  [
    'a brace that is no call',
    '{"a": 1} {"name": "look", "parameters": {}}',
    syntax(BARE),
    ['text {"a": 1} {"name": "look", "parameters": {}}'],
  ],
  ['no call where none is asked for', CALL, { reasoning: null, calls: null }, [`text ${CALL}`]],
  [
    'reasoning',
    '<think>\nWell.\n\n</think>\n\nYes.',
    { reasoning: 'possible', calls: null },
    ['reasoning Well.', 'reasoning_end', 'text Yes.'],
  ],
  [
    'reasoning that the prompt begins',
    'Well.</think>Yes.',
    { reasoning: 'open', calls: null },
    ['reasoning Well.', 'reasoning_end', 'text Yes.'],
  ],
  [
    'reasoning and a call',
    `<think>a < b</think>\n${CALL}`,
    syntax(TAGS, THINKS),
    ['reasoning a < b', 'reasoning_end', ...CALLED],
  ],
  ['no reasoning', 'Yes. <think>', { reasoning: 'possible', calls: null }, ['text Yes. <think>']],
  [
    'empty reasoning',
    '<think>\n\n</think>\n\nYes.',
    { reasoning: 'possible', calls: null },
    ['reasoning_end', 'text Yes.'],
  ],
  ['reasoning that ends early', '<think>Well', { reasoning: 'possible', calls: null }, ['reasoning Well']],
];

describe('what a generation writes (WIRE B5)', () => {
  it.each(CASES)('%s', (_, text, by, expected) => {
    expect(read(text, by)).toEqual(expected);
  });

  it.each(CASES)('invariant 11: is the same however the text is cut: %s', (_, text, by, expected) => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (cuts) => {
        expect(read(text, by, cuts)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
    expect(
      read(
        text,
        by,
        [...text].map((_, at) => at),
      ),
    ).toEqual(expected);
  });

  it('stops before a call too many', () => {
    const one = { form: TAGS, names: ['look'], most: 1 };
    expect(read(`${CALL}${CALL} more`, { reasoning: null, calls: one })).toEqual([...CALLED, 'call_too_many']);
    const list = '[TOOL_CALLS][{"name": "look", "arguments": {}}, {"name": "look", "arguments": {}}]';
    const ended = ['call look', 'arguments {}', 'call_end', 'call_too_many'];
    expect(read(list, { reasoning: null, calls: { ...one, form: LIST } })).toEqual(ended);
  });

  it('knows the name before any of the arguments, which come as they are written', () => {
    const parser = new OutputParser(syntax(TAGS));
    expect(parser.push('<tool_call>\n{"name": "look", "arguments"')).toEqual([]);
    expect(parser.push(': {"a"')).toEqual([
      { kind: 'call', name: 'look' },
      { kind: 'arguments', text: '{"a"' },
    ]);
    expect(parser.push(': 1}')).toEqual([{ kind: 'arguments', text: ': 1}' }]);
  });
});
