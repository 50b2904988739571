import { describe, expect, it } from 'vitest';
import { textLayout, UnsupportedGraph, type TextLayout } from './text-layout.js';
import type { TensorSlot } from './tensor-slot.js';

const GQA = 'com.microsoft.GroupQueryAttention';
const cache = (name: string, shape = [-1, 2, -1, 32]): TensorSlot => ({ name, type: 'float16', shape });
const INPUTS: TensorSlot[] = [
  { name: 'input_ids', type: 'int64', shape: [-1, -1] },
  { name: 'attention_mask', type: 'int64', shape: [-1, -1] },
  cache('past_key_values.0.key'),
  cache('past_key_values.0.value', [-1, 2, -1, 48]),
];
const OUTPUTS: TensorSlot[] = [
  { name: 'logits', type: 'float32', shape: [-1, -1, 100] },
  cache('present.0.value', [-1, 2, -1, 48]),
  cache('present.0.key'),
];
const OPERATORS = new Map([[GQA, 1]]);
const without = (slots: TensorSlot[], name: string): TensorSlot[] => slots.filter((slot) => slot.name !== name);
const changed = (slots: TensorSlot[], name: string, change: Partial<TensorSlot>): TensorSlot[] =>
  slots.map((slot) => (slot.name === name ? { ...slot, ...change } : slot));

const layout = (inputs: TensorSlot[], outputs: TensorSlot[], operators: Map<string, number>): TextLayout =>
  textLayout({ inputs, outputs, operators, functionDomains: new Set(['local']) });

describe('the layout of a graph', () => {
  it('takes names, types and shapes from the metadata, in whatever order they come', () => {
    expect(layout(INPUTS, OUTPUTS, OPERATORS)).toEqual({
      caches: [
        { past: 'past_key_values.0.key', present: 'present.0.key', type: 'float16', heads: 2, headSize: 32 },
        { past: 'past_key_values.0.value', present: 'present.0.value', type: 'float16', heads: 2, headSize: 48 },
      ],
      cacheKind: 'in-place',
      integers: new Map([
        ['input_ids', 'int64'],
        ['attention_mask', 'int64'],
      ]),
      logitsType: 'float32',
      vocabularySize: 100,
      logitsPositions: null,
      keepInput: null,
    });
    const positions = [...INPUTS, { name: 'position_ids', type: 'int32', shape: [-1, -1] }];
    expect(layout(positions, OUTPUTS, OPERATORS).integers.get('position_ids')).toBe('int32');
  });

  it.each([[[]], [[1]]])('asks for the logits of one position where the graph lets it: shape %j', (shape) => {
    const inputs = [...INPUTS, { name: 'num_logits_to_keep', type: 'int64', shape }];
    expect(layout(inputs, OUTPUTS, OPERATORS)).toMatchObject({
      logitsPositions: 1,
      keepInput: { name: 'num_logits_to_keep', type: 'int64', dims: shape },
    });
  });

  it('tells graphs apart whose cache grows by Concat', () => {
    const operators = new Map([
      ['Concat', 7],
      ['local.Rotary', 1],
    ]);
    expect(layout(INPUTS, OUTPUTS, operators).cacheKind).toBe('concat');
  });

  it.each<[string, TensorSlot[], TensorSlot[], Map<string, number>]>([
    [
      'input token_type_ids',
      [...INPUTS, { name: 'token_type_ids', type: 'int64', shape: [-1, -1] }],
      OUTPUTS,
      OPERATORS,
    ],
    ['input past_conv.0', [...INPUTS, cache('past_conv.0')], OUTPUTS, OPERATORS],
    ['input attention_mask', without(INPUTS, 'attention_mask'), OUTPUTS, OPERATORS],
    ['input input_ids is float32', changed(INPUTS, 'input_ids', { type: 'float32' }), OUTPUTS, OPERATORS],
    ['input past_key_values.0.key', INPUTS.slice(0, 2), OUTPUTS, OPERATORS],
    [
      'input past_key_values.0.key has the shape [-1, 2, 512, 32]',
      changed(INPUTS, 'past_key_values.0.key', { shape: [-1, 2, 512, 32] }),
      OUTPUTS,
      OPERATORS,
    ],
    [
      'input past_key_values.0.value is int8',
      changed(INPUTS, 'past_key_values.0.value', { type: 'int8' }),
      OUTPUTS,
      OPERATORS,
    ],
    ['output present.0.key', INPUTS, without(OUTPUTS, 'present.0.key'), OPERATORS],
    ['output logits is missing', INPUTS, without(OUTPUTS, 'logits'), OPERATORS],
    ['output logits has the shape [-1, 100]', INPUTS, changed(OUTPUTS, 'logits', { shape: [-1, 100] }), OPERATORS],
    [`operator ${GQA} occurs 2 times`, INPUTS, OUTPUTS, new Map([[GQA, 2]])],
    ['nor a Concat for each', INPUTS, OUTPUTS, new Map([['Concat', 1]])],
    ['operator acme.Magic', INPUTS, OUTPUTS, new Map([...OPERATORS, ['acme.Magic', 1]])],
    ['operator com.microsoft.MultiHeadAttention', INPUTS, OUTPUTS, new Map([['com.microsoft.MultiHeadAttention', 1]])],
  ])('refuses what it cannot run, by name: %s', (named, inputs, outputs, operators) => {
    expect(() => layout(inputs, outputs, operators)).toThrow(UnsupportedGraph);
    expect(() => layout(inputs, outputs, operators)).toThrow(named);
  });
});
