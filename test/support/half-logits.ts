import { writeFile } from 'node:fs/promises';
import { bytesField, numberField } from '../../src/graphs/index.js';
import { GRAPH, INTEGER_ATTRIBUTE, MODEL, NODE, VALUE } from '../../src/graphs/onnx-fields.js';
import { WireField } from '../../src/graphs/wire.js';

const FLOAT16 = 10;
const WIDE = 'wide_logits';

/** Rewrites a graph file so that its logits are float16: a Cast stands behind them. */
export async function narrowLogits(path: string, vocabularySize: number): Promise<void> {
  const bytes = WireField.readFile(path, (root) =>
    [...root.every()].map((field) => (field.number === MODEL.graph ? graphOf(field, vocabularySize) : field.whole())),
  );
  await writeFile(path, Buffer.concat(bytes));
}

function graphOf(graph: WireField, vocabularySize: number): Buffer {
  const parts = [...graph.every()].map((field) => {
    if (field.number === GRAPH.node) return nodeOf(field);
    const isLogits = field.number === GRAPH.output && nameOf(field) === 'logits';
    return isLogits ? bytesField(GRAPH.output, slot(vocabularySize)) : field.whole();
  });
  const cast = [
    bytesField(NODE.input, WIDE),
    bytesField(NODE.output, 'logits'),
    bytesField(NODE.operator, 'Cast'),
    bytesField(NODE.attribute, [bytesField(1, 'to'), numberField(3, FLOAT16), numberField(20, INTEGER_ATTRIBUTE)]),
  ];
  return bytesField(MODEL.graph, [...parts, bytesField(GRAPH.node, cast)]);
}

function nodeOf(node: WireField): Buffer {
  const parts = [...node.every()].map((field) =>
    field.number === NODE.output && field.text() === 'logits' ? bytesField(NODE.output, WIDE) : field.whole(),
  );
  return bytesField(GRAPH.node, parts);
}

function nameOf(value: WireField): string {
  for (const name of value.fields(VALUE.name)) return name.text();
  return '';
}

function slot(vocabularySize: number): Buffer[] {
  const dims = [bytesField(2, 'rows'), bytesField(2, 'tokens'), numberField(1, vocabularySize)];
  const shape = bytesField(
    2,
    dims.map((dim) => bytesField(1, dim)),
  );
  return [bytesField(VALUE.name, 'logits'), bytesField(VALUE.type, [bytesField(1, [numberField(1, FLOAT16), shape])])];
}
