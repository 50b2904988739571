import { ATTRIBUTE, FUNCTION, GRAPH, MODEL, NODE, TENSOR, VALUE } from './onnx-fields.js';
import type { TensorSlot } from './tensor-slot.js';
import { WireField } from './wire.js';

const TYPE_NAMES: Readonly<Record<number, string>> = {
  1: 'float32',
  2: 'uint8',
  3: 'int8',
  6: 'int32',
  7: 'int64',
  9: 'bool',
  10: 'float16',
  11: 'float64',
  16: 'bfloat16',
};
/** Deeper subgraphs than any exporter writes would only be there to exhaust the reader. */
const DEEPEST_GRAPH = 8;
/** A free dimension, or one that is absurd, is written as -1. */
const LARGEST_DIMENSION = 2 ** 40;

/** Weights that lie outside of the graph. */
export interface ExternalFile {
  /** As the graph names it, relative to the graph's folder. Not checked: see locationFault. */
  location: string;
  /** The file must have at least so many bytes. */
  leastBytes: number;
}

/** What an ONNX file says of itself. */
export interface GraphFacts {
  inputs: TensorSlot[];
  outputs: TensorSlot[];
  /** Operators with their counts, as `domain.Name` (`Name` alone for the standard domain), those of subgraphs included. */
  operators: ReadonlyMap<string, number>;
  /** Domains that the file brings functions for. */
  functionDomains: ReadonlySet<string>;
  externalFiles: ExternalFile[];
}

/**
 * Reads an ONNX file without its weights, so size does not matter. Throws an Error with the reason, without the path, on
 * bytes that are not a whole ONNX model.
 */
export function readGraph(path: string): GraphFacts {
  return WireField.readFile(path, (root) => {
    const collector = new Collector();
    for (const field of root.fields(MODEL.graph, MODEL.function)) {
      if (field.number === MODEL.graph) collector.main(field);
      else collector.function(field);
    }
    return collector.facts();
  });
}

class Collector {
  private readonly operators = new Map<string, number>();
  private readonly functionDomains = new Set<string>();
  private readonly external = new Map<string, number>();
  private readonly initializers = new Set<string>();
  private readonly inputs: TensorSlot[] = [];
  private readonly outputs: TensorSlot[] = [];

  facts(): GraphFacts {
    if (this.operators.size === 0) throw new Error('it holds no graph');
    return {
      // Old files list their weights as inputs too.
      inputs: this.inputs.filter(({ name }) => !this.initializers.has(name)),
      outputs: this.outputs,
      operators: this.operators,
      functionDomains: this.functionDomains,
      externalFiles: [...this.external].map(([location, leastBytes]) => ({ location, leastBytes })),
    };
  }

  main(graph: WireField): void {
    for (const field of graph.fields(GRAPH.input, GRAPH.output)) {
      (field.number === GRAPH.input ? this.inputs : this.outputs).push(slotOf(field));
    }
    this.graph(graph, 0);
  }

  function(field: WireField): void {
    for (const part of field.fields(FUNCTION.node, FUNCTION.domain)) {
      if (part.number === FUNCTION.node) this.node(part, 1);
      else this.functionDomains.add(part.text());
    }
  }

  private graph(graph: WireField, depth: number): void {
    if (depth > DEEPEST_GRAPH) throw new Error('its subgraphs are nested too deep');
    for (const field of graph.fields(GRAPH.node, GRAPH.initializer)) {
      if (field.number === GRAPH.node) this.node(field, depth);
      else this.tensor(field, depth === 0);
    }
  }

  private node(node: WireField, depth: number): void {
    let name = '';
    let domain = '';
    for (const field of node.fields(NODE.operator, NODE.domain, NODE.attribute)) {
      if (field.number === NODE.operator) name = field.text();
      else if (field.number === NODE.domain) domain = field.text();
      else this.attribute(field, depth);
    }
    const key = domain === '' || domain === 'ai.onnx' ? name : `${domain}.${name}`;
    this.operators.set(key, (this.operators.get(key) ?? 0) + 1);
  }

  private attribute(attribute: WireField, depth: number): void {
    for (const field of attribute.fields(ATTRIBUTE.tensor, ATTRIBUTE.graph, ATTRIBUTE.tensors, ATTRIBUTE.graphs)) {
      if (field.number === ATTRIBUTE.tensor || field.number === ATTRIBUTE.tensors) this.tensor(field, false);
      else this.graph(field, depth + 1);
    }
  }

  private tensor(tensor: WireField, isMain: boolean): void {
    const external: Record<string, string> = {};
    for (const field of tensor.fields(TENSOR.name, TENSOR.external)) {
      if (field.number === TENSOR.external) {
        const [key = '', value = ''] = texts(field);
        external[key] = value;
      } else if (isMain) this.initializers.add(field.text());
    }
    const { location, offset, length } = external;
    if (location === undefined) return;
    const end = Number(offset ?? 0) + Number(length ?? 0);
    if (!Number.isSafeInteger(end) || end < 0) throw new Error(`its external data ${location} has no place`);
    this.external.set(location, Math.max(end, this.external.get(location) ?? 0));
  }
}

/** Key and value of a StringStringEntryProto. */
function texts(entry: WireField): string[] {
  const found: string[] = [];
  for (const field of entry.fields(1, 2)) found[field.number - 1] = field.text();
  return found;
}

/** Of a ValueInfoProto. What is no tensor gets the type `other`. */
function slotOf(value: WireField): TensorSlot {
  const slot: TensorSlot = { name: '', type: 'other', shape: [] };
  for (const field of value.fields(VALUE.name, VALUE.type)) {
    if (field.number === VALUE.name) slot.name = field.text();
    else for (const tensor of field.fields(1)) Object.assign(slot, tensorType(tensor));
  }
  return slot;
}

function tensorType(tensor: WireField): Pick<TensorSlot, 'type' | 'shape'> {
  let type = 'other';
  const shape: number[] = [];
  for (const field of tensor.fields(1, 2)) {
    if (field.number === 1) type = TYPE_NAMES[field.value] ?? `type ${field.value}`;
    else for (const dimension of field.fields(1)) shape.push(sizeOf(dimension));
  }
  return { type, shape };
}

function sizeOf(dimension: WireField): number {
  for (const { value } of dimension.fields(1)) if (value <= LARGEST_DIMENSION) return value;
  return -1;
}
