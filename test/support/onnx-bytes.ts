/** Writes the little of the ONNX wire format (protobuf) that tests need for graphs of their own. */
export interface GraphNode {
  operator: string;
  inputs: string[];
  output: string;
  /** Integer attributes. */
  attributes?: Record<string, number>;
}

export interface GraphSlot {
  name: string;
  type: 'float32' | 'int64';
  /** A word stands for a dimension that is free. */
  shape: (number | string)[];
}

export interface GraphWeights {
  name: string;
  dims: number[];
  values: Float32Array | BigInt64Array;
}

const ELEMENT = { float32: 1, int64: 7 } as const;
const ATTRIBUTE_INT = 2;

/** A whole model file of opset 13. */
export function onnxBytes(graph: {
  nodes: GraphNode[];
  weights: GraphWeights[];
  inputs: GraphSlot[];
  outputs: GraphSlot[];
}): Buffer {
  const body = [
    ...graph.nodes.map((node) => bytes(1, nodeBytes(node))),
    text(2, 'graph'),
    ...graph.weights.map((weights) => bytes(5, weightBytes(weights))),
    ...graph.inputs.map((slot) => bytes(11, slotBytes(slot))),
    ...graph.outputs.map((slot) => bytes(12, slotBytes(slot))),
  ];
  return Buffer.concat([
    number(1, 8),
    bytes(7, Buffer.concat(body)),
    bytes(8, Buffer.concat([text(1, ''), number(2, 13)])),
  ]);
}

function nodeBytes({ operator, inputs, output, attributes = {} }: GraphNode): Buffer {
  return Buffer.concat([
    ...inputs.map((input) => text(1, input)),
    text(2, output),
    text(4, operator),
    ...Object.entries(attributes).map(([name, value]) =>
      bytes(5, Buffer.concat([text(1, name), number(3, value), number(20, ATTRIBUTE_INT)])),
    ),
  ]);
}

function weightBytes({ name, dims, values }: GraphWeights): Buffer {
  const type = values instanceof Float32Array ? ELEMENT.float32 : ELEMENT.int64;
  const raw = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return Buffer.concat([...dims.map((dim) => number(1, dim)), number(2, type), text(8, name), bytes(9, raw)]);
}

function slotBytes({ name, type, shape }: GraphSlot): Buffer {
  const dims = shape.map((dim) => bytes(1, typeof dim === 'number' ? number(1, dim) : text(2, dim)));
  const tensor = Buffer.concat([number(1, ELEMENT[type]), bytes(2, Buffer.concat(dims))]);
  return Buffer.concat([text(1, name), bytes(2, bytes(1, tensor))]);
}

function varint(value: number): Buffer {
  const parts: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...parts, rest]);
    parts.push((rest % 128) + 128);
  }
}

const number = (field: number, value: number): Buffer => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field: number, value: Buffer): Buffer =>
  Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);
const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value));
