import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onnxBytes, type GraphNode, type GraphWeights } from '../../test/support/onnx-bytes.js';
import { editGraph, type EditedGraph, type GraphEdits } from './edit-graph.js';
import { readGraph } from './read-graph.js';
import { textLayout } from './text-layout.js';

const POCKET = new URL('../../models/pocket/onnx/model.onnx', import.meta.url).pathname;
const NOTHING: GraphEdits = { int8Activations: false, lastPositions: false };
const LAST: GraphEdits = { ...NOTHING, lastPositions: true };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edit-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function written(content: Buffer): Promise<string> {
  const path = join(folder, 'model.onnx');
  await writeFile(path, content);
  return path;
}

describe('an edited graph (ENGINE 4.2)', () => {
  it('has its weights in the file it was made of, and else says what that says', async () => {
    const original = readGraph(POCKET);
    const { bytes, logitsPositions } = editGraph(POCKET, NOTHING);
    expect(logitsPositions).toBeNull();
    expect(bytes.length).toBeLessThan((await readFile(POCKET)).length / 10);
    const edited = readGraph(await written(bytes));
    expect(edited).toMatchObject({ inputs: original.inputs, outputs: original.outputs, operators: original.operators });
    expect(edited.externalFiles.map(({ location }) => location)).toEqual(['model.onnx']);
    expect(textLayout(edited)).toEqual(textLayout(original));
  });

  it('cuts off all but the last positions in front of its head', async () => {
    const { bytes, logitsPositions } = editGraph(POCKET, LAST);
    expect(logitsPositions).toBe(2);
    const slices = (path: string): number => readGraph(path).operators.get('Slice') ?? 0;
    expect(slices(await written(bytes))).toBe(slices(POCKET) + 1);
  });

  it('is refused where the file is no graph', async () => {
    expect(() => editGraph(join(folder, 'absent.onnx'), NOTHING)).toThrow('ENOENT');
    const path = await written((await readFile(POCKET)).subarray(0, 100_000));
    expect(() => editGraph(path, NOTHING)).toThrow('it is cut off');
  });
});

const SIZE = 4;
const WORDS = 8;
const projection: GraphWeights = { name: 'w', dims: [SIZE, WORDS], values: new Float32Array(SIZE * WORDS) };
const scale: GraphWeights = { name: 'scale', dims: [1], values: new Float32Array(1) };
const table: GraphWeights = { name: 'table', dims: [1, SIZE], values: new Float32Array(SIZE) };

const node = (operator: string, inputs: string[], output: string): GraphNode => ({ operator, inputs, output });
const hidden = node('Gather', ['table', 'input_ids'], 'hidden');

async function edited(...nodes: GraphNode[]): Promise<EditedGraph> {
  const bytes = onnxBytes({
    nodes: [hidden, ...nodes],
    weights: [projection, scale, table],
    inputs: [{ name: 'input_ids', type: 'int64', shape: ['b', 's'] }],
    outputs: [{ name: 'logits', type: 'float32', shape: ['b', 's', WORDS] }],
  });
  return editGraph(await written(bytes), LAST);
}

describe('the head of a graph', () => {
  it.each([
    ['one product', [node('MatMul', ['hidden', 'w'], 'logits')]],
    ['a product with a cast', [node('MatMul', ['hidden', 'w'], 'raw'), node('Cast', ['raw'], 'logits')]],
    [
      'capped logits',
      [
        node('MatMul', ['hidden', 'w'], 'raw'),
        node('Div', ['raw', 'scale'], 'small'),
        node('Tanh', ['small'], 'capped'),
        node('Mul', ['capped', 'scale'], 'logits'),
      ],
    ],
  ])('is found in %s', async (_, nodes) => {
    expect((await edited(...nodes)).logitsPositions).toBe(2);
  });

  it.each([
    ['no stored weight is in the product', [node('MatMul', ['hidden', 'hidden'], 'logits')]],
    [
      'something else reads what would be cut',
      [node('MatMul', ['hidden', 'w'], 'raw'), node('Cast', ['raw'], 'logits'), node('ReduceMean', ['raw'], 'other')],
    ],
    ['logits are mixed over positions', [node('MatMul', ['hidden', 'w'], 'raw'), node('Softmax', ['raw'], 'logits')]],
    ['nothing makes them', [node('MatMul', ['hidden', 'w'], 'others')]],
  ])('is left as it is where %s', async (_, nodes) => {
    expect((await edited(...nodes)).logitsPositions).toBeNull();
  });
});
