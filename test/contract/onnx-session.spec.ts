import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGraph, textLayout, type TextLayout } from '../../src/graphs/index.js';
import { OnnxLanguageModel, type KvMode } from '../../src/inference/onnx/onnx-language-model.js';
import { worksInPlace } from '../../src/inference/onnx/self-test.js';
import { openNative, openPublic, type OnnxSession } from '../../src/inference/onnx/session.js';
import { GOLDEN, POCKET } from './pocket.js';

const GRAPH = join(POCKET.directory, POCKET.graphFile);
const ROWS = 3;

/** Logits of three prompts prefilled in chunks and decoded together for some steps, a row moved in between. */
async function logitsOf(session: OnnxSession, layout: TextLayout, kvMode: KvMode): Promise<number[]> {
  const model = new OnnxLanguageModel(session, layout, { rows: ROWS, contextLength: 512, kvMode });
  const prompts = GOLDEN.slice(0, ROWS).map((each) => each.promptIds);
  const seen: number[] = [];
  for (const [row, ids] of prompts.entries()) {
    await model.prefill(row, ids.slice(0, 5), 0);
    seen.push(...(await model.prefill(row, ids.slice(5), 5)));
  }
  const lengths = prompts.map((ids) => ids.length);
  const step = async (rows: number[]): Promise<void> => {
    for (const logits of await model.decode(
      rows.map((row) => ({ tokenId: 100 + row, past: lengths[row]! })),
      0,
    ))
      seen.push(...logits);
    for (const row of rows) lengths[row]!++;
  };
  await step([0, 1, 2]);
  await step([0, 1, 2]);
  model.move(2, 0, lengths[2]!);
  await step([2, 1]);
  await step([2]);
  return seen;
}

describe('the runtime adapter', () => {
  let native: OnnxSession;
  let layout: TextLayout;
  let expected: number[];
  beforeAll(async () => {
    native = openNative({ path: GRAPH }, { threads: 1 });
    layout = textLayout(readGraph(GRAPH));
    expected = await logitsOf(native, layout, 'copying');
  });
  afterAll(() => native.dispose());

  it('gives the same logits in place as by copying', async () => {
    expect(await worksInPlace(native, layout)).toBe(true);
    expect(await logitsOf(native, layout, 'in-place')).toEqual(expected);
  });

  it('gives the same logits through the public API', async () => {
    const session = await openPublic({ path: GRAPH }, { threads: 1 });
    expect({ inputs: session.inputs, outputs: session.outputs }).toEqual({
      inputs: native.inputs,
      outputs: native.outputs,
    });
    expect(session.runInPlace).toBeUndefined();
    expect(await worksInPlace(session, layout)).toBe(false);
    expect(await logitsOf(session, layout, 'copying')).toEqual(expected);
    await session.dispose();
  });

  it('finds out when the cache is not updated in place, or the runtime refuses to', async () => {
    const forgetful: OnnxSession = {
      ...native,
      // What a runtime that copies its inputs first would do: the logits are right, past stays as it was.
      runInPlace: (feeds, fetches) => {
        const copied = Object.entries(fetches).map(([name, { type, data, dims, location }]) => [
          name,
          { type, data: data.slice(), dims, location },
        ]);
        native.runInPlace!(
          Object.fromEntries(
            Object.entries(feeds).map(([name, given]) => [name, { ...given, data: given.data.slice() }]),
          ),
          { ...Object.fromEntries(copied), logits: fetches['logits'] },
        );
      },
    };
    expect(await worksInPlace(forgetful, layout)).toBe(false);
    const refusing: OnnxSession = {
      ...native,
      runInPlace: () => {
        throw new Error('Invalid argument');
      },
    };
    expect(await worksInPlace(refusing, layout)).toBe(false);
  });

  it('lists the operators of a graph without reading its weights', () => {
    const operators = readGraph(GRAPH).operators;
    expect(operators.get('com.microsoft.GroupQueryAttention')).toBe(6);
    expect(operators.get('com.microsoft.MatMulNBits')).toBeGreaterThan(6);
    expect(operators.get('Gather')).toBeGreaterThan(0);
  });
});
