import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { EngineModel } from '../../src/inference/index.js';
import { ModelFolder } from '../integration/models/model-folder.js';
import { narrowLogits } from '../support/half-logits.js';
import { GOLDEN, POCKET, realEngine } from './pocket.js';
import { Recording, request } from './recording.js';

const FLOAT32 = 1;
const INT32 = 6;

let folder: ModelFolder;
const open: EngineModel[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((model) => model.close()));
  await folder.remove();
});

/** A copy of the embedded model whose graph wants its ids in another type: one byte of its wire format. */
async function pocketWith(input: string, type: number): Promise<string> {
  folder = await ModelFolder.copy();
  const path = folder.path(POCKET.graphFile);
  const bytes = await readFile(path);
  // ValueInfo: name, then type { tensor_type { elem_type …
  const name = Buffer.from(`\n${String.fromCharCode(input.length)}${input}\x12`);
  const elementType = bytes.lastIndexOf(name) + name.length + 4;
  expect([...bytes.subarray(elementType - 1, elementType + 1)]).toEqual([0x08, 7]);
  bytes[elementType] = type;
  await writeFile(path, bytes);
  return folder.directory;
}

const opened = async (directory: string): Promise<EngineModel> => {
  const model = await realEngine().open({ ...POCKET, directory });
  open.push(model);
  return model;
};

describe('types of a graph (BL-32)', () => {
  it('are read from it: ids as int32 give the same answer as int64', async () => {
    const [narrow, wide] = [await opened(await pocketWith('input_ids', INT32)), await opened(POCKET.directory)];
    const [first] = GOLDEN;
    const texts = [narrow, wide].map(async (model) => {
      const run = new Recording(model, request(first!.promptIds, { maxOutputTokens: 20 }));
      await run.ended;
      return run.steps.map(({ tokenId }) => tokenId);
    });
    const [a, b] = await Promise.all(texts);
    expect(a).toEqual(b);
    expect(a!.length).toBeGreaterThan(0);
  });

  it('are read from it: logits as float16 give an answer that begins like that of float32', async () => {
    folder = await ModelFolder.copy();
    await narrowLogits(folder.path(POCKET.graphFile), 1024);
    const [narrow, wide] = [await opened(folder.directory), await opened(POCKET.directory)];
    const texts = [narrow, wide].map(async (model) => {
      const run = new Recording(model, request(GOLDEN[0]!.promptIds, { maxOutputTokens: 20 }));
      expect((await run.ended).outcome).toBe('finished');
      return run.steps.map(({ tokenId }) => tokenId);
    });
    const [a, b] = await Promise.all(texts);
    expect(a!.slice(0, 4)).toEqual(b!.slice(0, 4));
    expect(narrow.info.warnings, 'its head is found behind the cast').toEqual([]);
  });

  it.each(['input_ids', 'attention_mask'])('that cannot be served are refused at the load: %s', async (input) => {
    const directory = await pocketWith(input, FLOAT32);
    await expect(realEngine().open({ ...POCKET, directory })).rejects.toMatchObject({
      code: 'model_load_failed',
      message: `onnx/model.onnx: input ${input} is float32, expected int64 or int32`,
    });
  });
});
