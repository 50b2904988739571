// A copy of a model's folder whose 4-bit products name no accuracy level: most files of the hub come so.
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesField } from '../../dist/src/graphs/index.js';
import { ATTRIBUTE, GRAPH, MODEL, NODE } from '../../dist/src/graphs/onnx-fields.js';
import { WireField } from '../../dist/src/graphs/wire.js';

const GRAPH_FILE = join('onnx', 'model_q4.onnx');

/** The head of the file has 8 bits, for which there is no fast kernel without a level; hub files have none of these: it keeps its level. */
export async function stripLevels(from, to) {
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true });
  await cp(from, to, { recursive: true });
  const counts = { stripped: 0 };
  const bytes = WireField.readFile(join(from, GRAPH_FILE), (model) =>
    Buffer.concat(
      [...model.every()].map((field) =>
        field.number === MODEL.graph ? bytesField(MODEL.graph, graph(field, counts)) : field.whole(),
      ),
    ),
  );
  if (counts.stripped === 0) throw new Error(`${from}: no accuracy level found`);
  await writeFile(join(to, GRAPH_FILE), bytes);
}

function graph(field, counts) {
  return [...field.every()].map((part) => (part.number === GRAPH.node ? node(part, counts) : part.whole()));
}

function node(field, counts) {
  const parts = [...field.every()];
  const operator = parts.find(({ number }) => number === NODE.operator)?.text();
  const bits = parts.find((part) => attribute(part) === 'bits');
  const isStripped = operator === 'MatMulNBits' && (bits === undefined || valueOf(bits) === 4);
  if (!isStripped) return field.whole();
  counts.stripped++;
  const kept = parts.filter((part) => attribute(part) !== 'accuracy_level');
  return bytesField(
    GRAPH.node,
    kept.map((part) => part.whole()),
  );
}

function attribute(part) {
  if (part.number !== NODE.attribute) return null;
  for (const name of part.fields(ATTRIBUTE.name)) return name.text();
  return null;
}

function valueOf(part) {
  for (const { value } of part.fields(ATTRIBUTE.integer)) return value;
  return 0;
}
