import { basename } from 'node:path';
import { findHead, readNode, type Head } from './find-head.js';
import {
  ATTRIBUTE,
  ENTRY,
  EXTERNAL_LOCATION,
  GRAPH,
  INT64,
  INTEGER_ATTRIBUTE,
  MODEL,
  NODE,
  TENSOR,
  TENSOR_TYPE,
  VALUE,
  VALUE_TYPE,
} from './onnx-fields.js';
import { WireField } from './wire.js';
import { bytesField, numberField } from './wire-bytes.js';

/** Raised with every change of an edit that can change a result. */
export const EDIT_VERSION = 1;

export interface GraphEdits {
  /** MatMulNBits computes with activations in int8 blocks (ENGINE 2.9). */
  int8Activations: boolean;
  /** The logits of the last positions alone are computed, LAST_POSITIONS at most. */
  lastPositions: boolean;
  /** A first output of a few bytes, SHORT_OUTPUT: the shape of the ids. */
  shortOutput?: boolean;
}

/**
 * The binding copies the outputs of a run one by one, and can be stopped at the first (ENGINE 2): with this one in front
 * of the logits nothing worth mentioning is copied, and nothing is left for the collection of garbage.
 */
export const SHORT_OUTPUT = 'lmsp/shape';

/**
 * Two, where one is read: the matrix kernels of one row may differ from those of several (ENGINE 2.8), and the logits of
 * a prompt are to be the same, bit by bit, as without the edit.
 */
export const LAST_POSITIONS = 2;

/** A graph in memory whose weights lie where they were: in the file that was edited, or in its external data. */
export interface EditedGraph {
  bytes: Buffer;
  /** How many positions of a run `logits` holds at most, the last ones; null: all. */
  logitsPositions: number | null;
}

/** Smaller weights stay in the graph: shapes and scales, which the runtime wants to see early. */
const LEAST_EXTERNAL_BYTES = 1024;
/** A graph without its weights is smaller; one that is not keeps them in a form that has no place in the file. */
const LARGEST_GRAPH = 64 * 1024 * 1024;

const QUANTIZED_PRODUCT = 'com.microsoft.MatMulNBits';
const LEVEL = 'accuracy_level';
const INT8_LEVEL = 4;
const LAST_HIDDEN = 'lmsp/last_hidden';

/**
 * Edits an ONNX file on the wire level, without writing it: weights of the file become external data that lies in the
 * file itself, so that they are mapped and not read. Throws on what is no ONNX file or keeps its weights otherwise.
 */
export function editGraph(path: string, edits: GraphEdits): EditedGraph {
  return WireField.readFile(path, (root) => {
    const editor = new GraphEditor(edits, basename(path));
    const bytes = editor.model(root);
    return { bytes, logitsPositions: editor.movedHead ? LAST_POSITIONS : null };
  });
}

class GraphEditor {
  movedHead = false;
  private size = 0;

  constructor(
    private readonly edits: GraphEdits,
    private readonly file: string,
  ) {}

  model(root: WireField): Buffer {
    const parts: Buffer[] = [];
    for (const field of root.every()) {
      parts.push(field.number === MODEL.graph ? bytesField(MODEL.graph, this.graph(field)) : this.copy(field));
    }
    return Buffer.concat(parts);
  }

  private graph(graph: WireField): Buffer[] {
    const head = this.edits.lastPositions ? findHead(graph) : null;
    this.movedHead = head !== null;
    const parts = [...(this.edits.shortOutput ? shortOutput() : []), ...(head === null ? [] : bounds())];
    let nodes = 0;
    for (const field of graph.every()) {
      if (field.number === GRAPH.initializer) parts.push(this.weight(field));
      else if (field.number !== GRAPH.node) parts.push(this.copy(field));
      else {
        const isHead = head !== null && head.node === nodes++;
        if (isHead) parts.push(lastHidden(head));
        parts.push(this.node(field, isHead));
      }
    }
    return parts;
  }

  private node(node: WireField, isHead: boolean): Buffer {
    const isLeveled = this.edits.int8Activations && readNode(node).operator === QUANTIZED_PRODUCT;
    if (!isHead && !isLeveled) return this.copy(node);
    const parts: Buffer[] = [];
    let isFirst = true;
    for (const field of node.every()) {
      if (isLeveled && field.number === NODE.attribute && nameOf(field, ATTRIBUTE.name) === LEVEL) continue;
      const isHidden: boolean = isHead && isFirst && field.number === NODE.input;
      if (isHidden) isFirst = false;
      parts.push(isHidden ? bytesField(NODE.input, LAST_HIDDEN) : this.copy(field));
    }
    if (isLeveled) parts.push(level());
    return bytesField(GRAPH.node, parts);
  }

  /** Its bytes stay where they are, and the graph says where. */
  private weight(tensor: WireField): Buffer {
    const raw = [...tensor.fields(TENSOR.raw)].at(-1);
    if (raw === undefined || raw.end - raw.start < LEAST_EXTERNAL_BYTES) return this.copy(tensor);
    const rest: Buffer[] = [];
    for (const field of tensor.every()) {
      if (field.number !== TENSOR.raw && field.number !== TENSOR.location) rest.push(this.copy(field));
    }
    return bytesField(GRAPH.initializer, [
      ...rest,
      entry('location', this.file),
      entry('offset', String(raw.start)),
      entry('length', String(raw.end - raw.start)),
      numberField(TENSOR.location, EXTERNAL_LOCATION),
    ]);
  }

  private copy(field: WireField): Buffer {
    this.size += field.wholeLength;
    if (this.size > LARGEST_GRAPH) throw new Error('its weights lie in the graph in a form that cannot be moved');
    return field.whole();
  }
}

function nameOf(message: WireField, number: number): string {
  for (const field of message.fields(number)) return field.text();
  return '';
}

function level(): Buffer {
  return bytesField(NODE.attribute, [
    bytesField(ATTRIBUTE.name, LEVEL),
    numberField(ATTRIBUTE.integer, INT8_LEVEL),
    numberField(ATTRIBUTE.type, INTEGER_ATTRIBUTE),
  ]);
}

function entry(key: string, value: string): Buffer {
  return bytesField(TENSOR.external, [bytesField(ENTRY.key, key), bytesField(ENTRY.value, value)]);
}

/** Bounds of the slice: the last positions, on the axis of positions. */
const BOUNDS = { 'lmsp/starts': BigInt(-LAST_POSITIONS), 'lmsp/ends': 2n ** 63n - 1n, 'lmsp/axes': 1n };

function bounds(): Buffer[] {
  return Object.entries(BOUNDS).map(([name, value]) => {
    const raw = Buffer.alloc(8);
    raw.writeBigInt64LE(value);
    return bytesField(GRAPH.initializer, [
      numberField(TENSOR.dimension, 1),
      numberField(TENSOR.type, INT64),
      bytesField(TENSOR.name, name),
      bytesField(TENSOR.raw, raw),
    ]);
  });
}

/** An output of int64 and the node that makes it. */
function shortOutput(): Buffer[] {
  const type = bytesField(VALUE.type, [bytesField(VALUE_TYPE.tensor, [numberField(TENSOR_TYPE.element, INT64)])]);
  return [
    bytesField(GRAPH.output, [bytesField(VALUE.name, SHORT_OUTPUT), type]),
    bytesField(GRAPH.node, [
      bytesField(NODE.input, 'input_ids'),
      bytesField(NODE.output, SHORT_OUTPUT),
      bytesField(NODE.operator, 'Shape'),
    ]),
  ];
}

function lastHidden({ hidden }: Head): Buffer {
  return bytesField(GRAPH.node, [
    ...[hidden, ...Object.keys(BOUNDS)].map((name) => bytesField(NODE.input, name)),
    bytesField(NODE.output, LAST_HIDDEN),
    bytesField(NODE.operator, 'Slice'),
  ]);
}
