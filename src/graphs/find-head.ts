import { GRAPH, NODE, TENSOR } from './onnx-fields.js';
import type { WireField } from './wire.js';

/** Where logits of all positions begin to be computed. */
export interface Head {
  /** Place among the graph's nodes. */
  node: number;
  /** Its input with one vector for each position, [rows, positions, size]. */
  hidden: string;
}

interface Node {
  operator: string;
  inputs: string[];
  outputs: string[];
}

/** These give each position's logits from the same position alone, and are cheaper behind the edit. */
const BY_ELEMENT = ['Cast', 'Tanh', 'Mul', 'Div', 'Add'];
const PROJECTIONS = ['MatMul', 'com.microsoft.MatMulNBits'];
/** What may stand between a stored weight and a MatMul, and keeps its rank. */
const OF_WEIGHTS = ['Transpose', 'Cast', 'DequantizeLinear', 'Identity'];

/** The projection to the vocabulary; null where the graph has it in a form that is not known here. */
export function findHead(graph: WireField): Head | null {
  const shape = readShape(graph);
  let name = 'logits';
  for (let i = 0; i <= BY_ELEMENT.length; i++) {
    const at = shape.nodes.findIndex(({ outputs }) => outputs[0] === name);
    const node = shape.nodes[at];
    const [first, second] = node?.inputs ?? [];
    // What others read as well must keep all positions.
    if (node === undefined || first === undefined || (name !== 'logits' && shape.uses.get(name) !== 1)) return null;
    if (PROJECTIONS.includes(node.operator)) {
      const isMatrix = node.operator !== 'MatMul' || isStoredMatrix(second, shape);
      return isMatrix && !shape.weights.has(first) ? { node: at, hidden: first } : null;
    }
    if (!BY_ELEMENT.includes(node.operator) || (second !== undefined && !isConstant(second, shape))) return null;
    name = first;
  }
  return null;
}

interface GraphShape {
  nodes: Node[];
  /** Ranks of the stored weights. */
  weights: Map<string, number>;
  /** How often a value is read, by nodes and as an output. */
  uses: Map<string, number>;
}

function readShape(graph: WireField): GraphShape {
  const shape: GraphShape = { nodes: [], weights: new Map(), uses: new Map() };
  const use = (name: string): unknown => shape.uses.set(name, (shape.uses.get(name) ?? 0) + 1);
  for (const field of graph.fields(GRAPH.node, GRAPH.initializer, GRAPH.output)) {
    if (field.number === GRAPH.output) for (const name of field.fields(1)) use(name.text());
    else if (field.number === GRAPH.initializer) readWeight(field, shape.weights);
    else {
      const node = readNode(field);
      node.inputs.forEach(use);
      shape.nodes.push(node);
    }
  }
  return shape;
}

export function readNode(field: WireField): Node {
  const node: Node = { operator: '', inputs: [], outputs: [] };
  let domain = '';
  for (const part of field.fields(NODE.input, NODE.output, NODE.operator, NODE.domain)) {
    const text = part.text();
    if (part.number === NODE.input) node.inputs.push(text);
    else if (part.number === NODE.output) node.outputs.push(text);
    else if (part.number === NODE.operator) node.operator = text;
    else domain = text;
  }
  if (domain !== '' && domain !== 'ai.onnx') node.operator = `${domain}.${node.operator}`;
  return node;
}

function readWeight(field: WireField, weights: GraphShape['weights']): void {
  let name = '';
  let rank = 0;
  for (const part of field.fields(TENSOR.dimension, TENSOR.name)) {
    if (part.number === TENSOR.name) name = part.text();
    else rank++;
  }
  weights.set(name, rank);
}

function isStoredMatrix(name: string | undefined, shape: GraphShape): boolean {
  if (name === undefined) return false;
  if (shape.weights.has(name)) return shape.weights.get(name) === 2;
  const maker = shape.nodes.find(({ outputs }) => outputs[0] === name);
  return maker !== undefined && OF_WEIGHTS.includes(maker.operator) && shape.weights.get(maker.inputs[0] ?? '') === 2;
}

/** A bias or a scale; of rank 1 at most, so that it has no positions. */
function isConstant(name: string, shape: GraphShape): boolean {
  const rank = shape.weights.get(name);
  if (rank !== undefined) return rank <= 1;
  return shape.nodes.some(({ operator, outputs }) => operator === 'Constant' && outputs[0] === name);
}
