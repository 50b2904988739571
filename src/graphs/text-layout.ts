import type { GraphFacts } from './read-graph.js';
import type { TensorSlot } from './tensor-slot.js';

/** One cache tensor of the graph: where it comes in, where it goes out, its shape [rows, heads, tokens, headSize]. */
export interface CacheSlot {
  past: string;
  present: string;
  type: 'float32' | 'float16';
  heads: number;
  headSize: number;
}

export type IntegerType = 'int64' | 'int32';

/** How the cache grows: written where it is, or handed out longer by one run than it came in (ENGINE 4.2). */
export type CacheKind = 'in-place' | 'concat';

/** What running the graph needs to know; everything by name and from its own metadata, nothing from config.json. */
export interface TextLayout {
  cacheKind: CacheKind;
  caches: CacheSlot[];
  /** Types of `input_ids`, `attention_mask` and, where the graph has it, `position_ids`. */
  integers: ReadonlyMap<string, IntegerType>;
  logitsType: 'float32' | 'float16';
  vocabularySize: number;
  /** How many positions of a run `logits` holds at most, the last ones; null: all. */
  logitsPositions: number | null;
  /** The input that says so in graphs which have one. */
  keepInput: KeepInput | null;
}

export interface KeepInput {
  name: string;
  type: IntegerType;
  dims: number[];
}

/** The one attention operator whose cache may be updated in place. */
const IN_PLACE_ATTENTION = 'com.microsoft.GroupQueryAttention';
const INTEGER_INPUTS = ['input_ids', 'attention_mask', 'position_ids'];
const KEEP_INPUTS = ['num_logits_to_keep', 'logits_to_keep'];
/** The runtime has no operators of other domains, unless the file brings them itself. */
const DOMAINS: ReadonlySet<string> = new Set([
  'com.microsoft',
  'ai.onnx.ml',
  'ai.onnx.training',
  'com.microsoft.nchwc',
]);

/** Thrown with a message that names the operator, input or output at fault. */
export class UnsupportedGraph extends Error {}

/** Reads the layout of a text-generation graph. Throws UnsupportedGraph. */
export function textLayout(
  graph: Pick<GraphFacts, 'inputs' | 'outputs' | 'operators' | 'functionDomains'>,
): TextLayout {
  const { inputs, outputs, operators } = graph;
  refuseForeignOperators(graph);
  const caches: CacheSlot[] = [];
  const integers = new Map<string, IntegerType>();
  let keepInput: KeepInput | null = null;
  for (const input of inputs) {
    if (input.name.startsWith('past_key_values.')) caches.push(cacheSlot(input, outputs));
    else if (INTEGER_INPUTS.includes(input.name)) integers.set(input.name, integerType(input));
    else if (KEEP_INPUTS.includes(input.name)) keepInput = keepInputOf(input);
    else throw new UnsupportedGraph(`input ${input.name} is not supported`);
  }
  for (const name of ['input_ids', 'attention_mask']) {
    if (!integers.has(name)) throw new UnsupportedGraph(`input ${name} is missing`);
  }
  if (caches.length === 0) throw new UnsupportedGraph('input past_key_values.0.key is missing');
  const logitsPositions = keepInput === null ? null : 1;
  const kind = cacheKind(caches.length, operators);
  return { cacheKind: kind, caches, integers, ...logitsSlot(outputs), logitsPositions, keepInput };
}

function refuseForeignOperators({
  operators,
  functionDomains,
}: Pick<GraphFacts, 'operators' | 'functionDomains'>): void {
  for (const operator of operators.keys()) {
    const domain = operator.slice(0, Math.max(0, operator.lastIndexOf('.')));
    if (domain === '' || DOMAINS.has(domain) || functionDomains.has(domain)) continue;
    throw new UnsupportedGraph(`operator ${operator} is not supported`);
  }
}

/** Every cache has its attention, or is made longer by a Concat; a mixture of both is neither. */
function cacheKind(caches: number, operators: GraphFacts['operators']): CacheKind {
  const attentions = operators.get(IN_PLACE_ATTENTION) ?? 0;
  if (attentions * 2 === caches) return 'in-place';
  if (attentions > 0) {
    throw new UnsupportedGraph(
      `the graph has ${caches / 2} cached layers but the operator ${IN_PLACE_ATTENTION} occurs ${attentions} times`,
    );
  }
  const fused = [...operators.keys()].find((operator) => operator.includes('.') && operator.endsWith('Attention'));
  if (fused !== undefined) throw new UnsupportedGraph(`operator ${fused} is not supported`);
  if ((operators.get('Concat') ?? 0) < caches) {
    throw new UnsupportedGraph(
      `the graph has ${caches} caches but neither the operator ${IN_PLACE_ATTENTION} nor a Concat for each`,
    );
  }
  return 'concat';
}

function integerType({ name, type }: TensorSlot): IntegerType {
  if (type === 'int64' || type === 'int32') return type;
  throw new UnsupportedGraph(`input ${name} is ${type}, expected int64 or int32`);
}

function keepInputOf(input: TensorSlot): KeepInput {
  if (input.shape.length > 1) throw new UnsupportedGraph(`input ${input.name} is no single number`);
  return { name: input.name, type: integerType(input), dims: input.shape.map(() => 1) };
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

function logitsSlot(outputs: readonly TensorSlot[]): Pick<TextLayout, 'logitsType' | 'vocabularySize'> {
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
