import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { editGraph, readGraph, SHORT_OUTPUT, textLayout, type GraphEdits } from '../../src/graphs/index.js';
import { OnnxLanguageModel } from '../../src/inference/onnx/onnx-language-model.js';
import { openNative, type GraphSource } from '../../src/inference/onnx/session.js';
import { realModels, SMOLLM, SMOLLM_PLAIN } from '../support/real-models.js';
import { POCKET, POCKET_Q4 } from './pocket.js';

const MODELS = realModels('edits of the graphs of real models');
const GRAPHS = [POCKET, POCKET_Q4].map(({ directory, graphFile }) => join(directory, graphFile));
if (MODELS !== null) GRAPHS.push(...[SMOLLM, SMOLLM_PLAIN].map((name) => join(MODELS, name, 'onnx/model_q4.onnx')));

/** Lengths of chunks as the prefill plan makes them; the last is decoded alone. */
const CHUNKS = [
  [7, 1],
  [64, 2, 1],
  [20, 1, 1],
] as const;

/** Digestible: logits of the last position after each chunk, bit by bit. */
async function logitsOf(path: string, edits: GraphEdits | null): Promise<Buffer> {
  const edited = edits && editGraph(path, edits);
  const source: GraphSource = edited ? { bytes: edited.bytes, folder: dirname(path) } : { path };
  const session = openNative(source, { threads: 2 });
  const layout = { ...textLayout(readGraph(path)), logitsPositions: edited?.logitsPositions ?? null };
  const kvMode = layout.cacheKind === 'concat' ? 'copying' : 'in-place';
  const model = new OnnxLanguageModel(session, layout, { rows: 1, contextLength: 128, kvMode });
  const seen: Buffer[] = [];
  for (const plan of CHUNKS) {
    let past = 0;
    for (const length of plan) {
      const ids = Array.from({ length }, (_, i) => ((past + i) * 31 + 7) % layout.vocabularySize);
      const logits = await model.prefill(0, ids, past);
      seen.push(Buffer.from(logits.slice().buffer));
      past += length;
    }
  }
  await session.dispose();
  return Buffer.concat(seen);
}

describe.each(GRAPHS)('%s, edited', (path) => {
  it('gives the logits of the file bit by bit, in every chunk and step (ENGINE 2.5)', async () => {
    const asFiled = await logitsOf(path, null);
    expect(editGraph(path, { int8Activations: false, lastPositions: true }).logitsPositions).toBe(2);
    expect((await logitsOf(path, { int8Activations: false, lastPositions: true })).equals(asFiled)).toBe(true);
    // These files carry the level already.
    expect((await logitsOf(path, { int8Activations: true, lastPositions: true })).equals(asFiled)).toBe(true);
    const edits = { int8Activations: true, lastPositions: true, shortOutput: true };
    expect((await logitsOf(path, edits)).equals(asFiled)).toBe(true);
  }, 60_000);

  it('has the shape of the ids in front of its outputs, where that is asked for: what the binding copies of a run', async () => {
    const { bytes } = editGraph(path, { int8Activations: true, lastPositions: true, shortOutput: true });
    const session = openNative({ bytes, folder: dirname(path) }, { threads: 1 });
    const names = readGraph(path).outputs.map(({ name }) => name);
    expect(session.outputs.map(({ name }) => name)).toEqual([SHORT_OUTPUT, ...names]);
    expect(session.outputs[0]).toEqual({ name: SHORT_OUTPUT, type: 'int64', shape: [2] });
    await session.dispose();
  });
});

describe('the level of activations (ENGINE 2.9)', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'level-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('is that of the file, or int8 whatever the file says', async () => {
    const path = join(POCKET.directory, POCKET.graphFile);
    const bytes = await readFile(path);
    // Attribute `accuracy_level` with its integer.
    const attribute = Buffer.from('\n\x0eaccuracy_level\x18\x04');
    for (let at = bytes.indexOf(attribute); at >= 0; at = bytes.indexOf(attribute))
      bytes[at + attribute.length - 1] = 0;
    const unleveled = join(folder, 'model.onnx');
    await writeFile(unleveled, bytes);
    const [int8, float] = [await logitsOf(path, null), await logitsOf(unleveled, null)];
    expect(int8.equals(float)).toBe(false);
    expect((await logitsOf(unleveled, { int8Activations: false, lastPositions: true })).equals(float)).toBe(true);
    expect((await logitsOf(unleveled, { int8Activations: true, lastPositions: true })).equals(int8)).toBe(true);
  });
});
