import { closeSync, openSync, readSync } from 'node:fs';

/** Field numbers of the ONNX wire format (protobuf). */
const MODEL_GRAPH = 7;
const GRAPH_NODE = 1;
const NODE_OPERATOR = 4;
const NODE_DOMAIN = 7;

/**
 * Operators of an ONNX file with their counts, as `domain.Name` (`Name` alone for the standard domain). Reads node
 * records only and skips over the weights, so size does not matter. Throws on bytes that are not an ONNX model.
 */
export function readOperators(path: string): Map<string, number> {
  const file = openSync(path, 'r');
  try {
    const operators = new Map<string, number>();
    const whole = new WireReader(file, 0, Infinity);
    for (const graph of whole.fields(MODEL_GRAPH)) {
      for (const node of graph.fields(GRAPH_NODE)) {
        let name = '';
        let domain = '';
        for (const field of node.fields(NODE_OPERATOR, NODE_DOMAIN)) {
          if (field.number === NODE_OPERATOR) name = field.text();
          else domain = field.text();
        }
        const key = domain === '' || domain === 'ai.onnx' ? name : `${domain}.${name}`;
        operators.set(key, (operators.get(key) ?? 0) + 1);
      }
    }
    if (operators.size === 0) throw new Error('it holds no graph');
    return operators;
  } finally {
    closeSync(file);
  }
}

/** One length-delimited stretch of a protobuf file, read piece by piece. */
class WireReader {
  private readonly head = Buffer.alloc(10);

  constructor(
    private readonly file: number,
    private readonly start: number,
    private readonly end: number,
    readonly number = 0,
  ) {}

  /** The length-delimited fields of these numbers, in order; all others are skipped. */
  *fields(...numbers: number[]): Generator<WireReader> {
    let at = this.start;
    while (at < this.end) {
      const tag = this.varint(at);
      if (tag === null) return;
      const number = Math.floor(tag.value / 8);
      const kind = tag.value % 8;
      at = tag.next;
      if (kind === 5) at += 4;
      else if (kind === 1) at += 8;
      else if (kind === 0 || kind === 2) {
        const value = this.varint(at);
        if (value === null) throw new Error('it is cut off');
        at = value.next;
        if (kind === 0) continue;
        if (numbers.includes(number)) yield new WireReader(this.file, at, at + value.value, number);
        at += value.value;
      } else throw new Error('it is not an ONNX file');
    }
  }

  text(): string {
    const bytes = Buffer.alloc(Math.min(this.end - this.start, 256));
    return bytes.toString('utf8', 0, readSync(this.file, bytes, 0, bytes.length, this.start));
  }

  private varint(at: number): { value: number; next: number } | null {
    const length = readSync(this.file, this.head, 0, this.head.length, at);
    if (length === 0) return null;
    let value = 0;
    for (let i = 0; i < length; i++) {
      const byte = this.head[i]!;
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return { value, next: at + i + 1 };
    }
    throw new Error('it is not an ONNX file');
  }
}
