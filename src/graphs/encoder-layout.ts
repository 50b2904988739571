import type { GraphFacts } from './read-graph.js';
import type { TensorSlot } from './tensor-slot.js';
import { UnsupportedGraph } from './text-layout.js';

/** What running an encoder's graph needs to know, from its own metadata. */
export interface EncoderLayout {
  wantsTypes: boolean;
  wantsMask: boolean;
  output: string;
  /** `tokens`: a vector for each token [rows, tokens, size]; `texts`: one for each row [rows, size]. */
  gives: 'tokens' | 'texts';
  type: 'float32' | 'float16';
  /** Numbers of a vector. */
  size: number;
}

const INPUTS = ['input_ids', 'attention_mask', 'token_type_ids'];
const TOKEN_OUTPUTS = ['last_hidden_state', 'token_embeddings'];
const TEXT_OUTPUTS = ['sentence_embedding'];

/** Operators that round activations by one scale for all rows of a run (ENGINE 2.9). */
const SHARED_SCALES = [
  'DynamicQuantizeLinear',
  'com.microsoft.DynamicQuantizeMatMul',
  'com.microsoft.DynamicQuantizeLSTM',
];

/** Whether the texts of one run change one another. */
export function rowsInterfere(operators: ReadonlyMap<string, number>): boolean {
  return SHARED_SCALES.some((operator) => operators.has(operator));
}

/** Reads the layout of an encoder's graph. Throws UnsupportedGraph, naming the input or output at fault. */
export function encoderLayout(
  { inputs, outputs }: Pick<GraphFacts, 'inputs' | 'outputs'>,
  task: 'embedding' | 'rerank',
): EncoderLayout {
  for (const { name, type } of inputs) {
    if (!INPUTS.includes(name)) throw new UnsupportedGraph(`input ${name} is not supported`);
    if (type !== 'int64') throw new UnsupportedGraph(`input ${name} is ${type}, not int64`);
  }
  const has = (name: string): boolean => inputs.some((input) => input.name === name);
  if (!has('input_ids')) throw new UnsupportedGraph('input input_ids is missing');
  const output = task === 'rerank' ? scoreOutput(outputs) : vectorOutput(outputs);
  return { wantsTypes: has('token_type_ids'), wantsMask: has('attention_mask'), ...output };
}

type Output = Pick<EncoderLayout, 'output' | 'gives' | 'type' | 'size'>;

/** Vectors of tokens come first: how they become one is for the model's folder to say. */
function vectorOutput(outputs: readonly TensorSlot[]): Output {
  for (const [names, gives, rank] of [
    [TOKEN_OUTPUTS, 'tokens', 3],
    [TEXT_OUTPUTS, 'texts', 2],
  ] as const) {
    const slot = outputs.find(({ name }) => names.includes(name));
    if (slot !== undefined) return { output: slot.name, gives, ...vectors(slot, rank) };
  }
  throw new UnsupportedGraph(`none of the outputs ${[...TOKEN_OUTPUTS, ...TEXT_OUTPUTS].join(', ')} is there`);
}

function scoreOutput(outputs: readonly TensorSlot[]): Output {
  const slot = outputs.find(({ name }) => name === 'logits');
  if (slot === undefined) throw new UnsupportedGraph('output logits is missing');
  const { type, size } = vectors(slot, 2);
  if (size !== 1) throw new UnsupportedGraph(`output logits has ${size} labels; a reranker has one`);
  return { output: slot.name, gives: 'texts', type, size };
}

function vectors({ name, type, shape }: TensorSlot, rank: number): Pick<EncoderLayout, 'type' | 'size'> {
  const size = shape[rank - 1] ?? -1;
  if (shape.length !== rank || size < 1) {
    throw new UnsupportedGraph(`output ${name} has the shape [${shape.join(', ')}]; its last dimension must be known`);
  }
  if (type === 'float32' || type === 'float16') return { type, size };
  throw new UnsupportedGraph(`output ${name} is ${type}, expected float32 or float16`);
}
