import type { TensorSlot } from './tensor.js';

/** One cache tensor of the graph: where it comes in, where it goes out, its shape [rows, heads, tokens, headSize]. */
export interface CacheSlot {
  past: string;
  present: string;
  type: 'float32' | 'float16';
  heads: number;
  headSize: number;
}

/** What running the graph needs to know; everything by name and from its own metadata, nothing from config.json. */
export interface GraphLayout {
  caches: CacheSlot[];
  logitsType: 'float32' | 'float16';
  vocabularySize: number;
  wantsPositions: boolean;
}

/** The one attention operator whose cache may be updated in place. */
const ATTENTION = 'com.microsoft.GroupQueryAttention';
const PLAIN_INPUTS = new Set(['input_ids', 'attention_mask', 'position_ids']);

/** Thrown with a message that names the operator, input or output at fault. */
export class UnsupportedGraph extends Error {}

/** Reads the layout of a text-generation graph. Throws UnsupportedGraph. */
export function graphLayout(
  inputs: readonly TensorSlot[],
  outputs: readonly TensorSlot[],
  operators: ReadonlyMap<string, number>,
): GraphLayout {
  const caches: CacheSlot[] = [];
  for (const input of inputs) {
    if (input.name.startsWith('past_key_values.')) caches.push(cacheSlot(input, outputs));
    else if (!PLAIN_INPUTS.has(input.name)) throw new UnsupportedGraph(`input ${input.name} is not supported`);
    else if (input.type !== 'int64') throw new UnsupportedGraph(`input ${input.name} is ${input.type}, not int64`);
  }
  for (const name of ['input_ids', 'attention_mask']) {
    if (!inputs.some((input) => input.name === name)) throw new UnsupportedGraph(`input ${name} is missing`);
  }
  if (caches.length === 0) throw new UnsupportedGraph('input past_key_values.0.key is missing');
  const attentions = operators.get(ATTENTION) ?? 0;
  if (attentions * 2 !== caches.length) {
    throw new UnsupportedGraph(
      `the graph has ${caches.length / 2} cached layers but the operator ${ATTENTION} occurs ${attentions} times`,
    );
  }
  return {
    caches,
    ...logitsSlot(outputs),
    wantsPositions: inputs.some((input) => input.name === 'position_ids'),
  };
}

function cacheSlot(input: TensorSlot, outputs: readonly TensorSlot[]): CacheSlot {
  const present = input.name.replace('past_key_values', 'present');
  const [rows, heads = -1, tokens, headSize = -1] = input.shape;
  const expected = 'expected [free, heads, free, head size]';
  if (input.shape.length !== 4 || rows !== -1 || tokens !== -1 || heads < 1 || headSize < 1) {
    throw new UnsupportedGraph(`input ${input.name} has the shape [${input.shape.join(', ')}], ${expected}`);
  }
  if (!outputs.some((output) => output.name === present)) throw new UnsupportedGraph(`output ${present} is missing`);
  return { past: input.name, present, type: floatType(input, 'input'), heads, headSize };
}

function logitsSlot(outputs: readonly TensorSlot[]): Pick<GraphLayout, 'logitsType' | 'vocabularySize'> {
  const logits = outputs.find((output) => output.name === 'logits');
  if (logits === undefined) throw new UnsupportedGraph('output logits is missing');
  const vocabularySize = logits.shape[2] ?? -1;
  if (logits.shape.length !== 3 || vocabularySize < 1) {
    throw new UnsupportedGraph(
      `output logits has the shape [${logits.shape.join(', ')}], expected [free, free, vocabulary]`,
    );
  }
  return { logitsType: floatType(logits, 'output'), vocabularySize };
}

function floatType(slot: TensorSlot, side: 'input' | 'output'): 'float32' | 'float16' {
  if (slot.type === 'float32' || slot.type === 'float16') return slot.type;
  throw new UnsupportedGraph(`${side} ${slot.name} is ${slot.type}, expected float32 or float16`);
}
