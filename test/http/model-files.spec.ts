import { appendFile, cp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { editGraph } from '../../src/graphs/index.js';
import { realEngine } from '../contract/pocket.js';
import { ModelFolder } from '../integration/models/model-folder.js';
import { HttpApp } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

const GRAPH = 'onnx/model.onnx';
const WEIGHTS = 'onnx/weights.bin';

let http: HttpApp;
let folder: ModelFolder;
beforeAll(async () => {
  http = await HttpApp.start({ otherEngine: realEngine() });
});
afterAll(() => http.close());
afterEach(() => folder.remove());

const read = async () => (await http.call('GET', '/v1/models/mine')).body.lmsp;
const load = () => http.call('POST', '/v1/models/load', { model: 'mine' });

/** A copy of the embedded model whose weights lie outside of its graph; registered, loaded once and unloaded. */
async function registered(): Promise<void> {
  folder = await ModelFolder.copy();
  await rename(folder.path(GRAPH), folder.path(WEIGHTS));
  const { bytes } = editGraph(folder.path(WEIGHTS), { int8Activations: false, lastPositions: false });
  await writeFile(folder.path(GRAPH), bytes);
  await cp(folder.path(WEIGHTS), folder.path('kept'));
  const source = { type: 'directory', path: folder.directory };
  const { status } = await http.call('POST', '/v1/models', { id: 'mine', type: 'llm', dtype: 'fp32', source });
  expect(status).toBe(201);
  await waitFor('the files to be read', async () => ((await read()).state === 'verifying' ? null : true));
  expect((await load()).body.lmsp).toMatchObject({ state: 'loaded' });
  expect((await http.call('POST', '/v1/models/unload', { model: 'mine' })).status).toBe(200);
}

const weights = (): string => folder.path(WEIGHTS);

describe('weights outside of a graph that change after the registration (BL-33)', () => {
  it.each<[string, string, string, () => Promise<unknown>]>([
    ['removed', 'missing', 'model_file_missing', () => rm(weights())],
    ['shortened', 'error', 'model_digest_mismatch', () => folder.cut(WEIGHTS)],
    ['cut to nothing', 'error', 'model_digest_mismatch', () => truncate(weights())],
    ['grown', 'error', 'model_digest_mismatch', () => appendFile(weights(), 'more')],
    ['flipped', 'error', 'model_digest_mismatch', () => folder.flip(WEIGHTS, 500_000)],
    ['replaced', 'error', 'model_digest_mismatch', () => cp(folder.path('onnx/model_q4.onnx'), weights())],
  ])('break this model alone, and it works again once they are restored: %s', async (_, state, code, damage) => {
    await registered();
    await damage();
    const refused = await load();
    expect([refused.status, refused.body.error.code]).toEqual([500, 'model_load_failed']);
    expect(await read()).toMatchObject({ state, error: { code } });
    expect((await http.create({ model: 'mine' })).body.error.code).toBe('model_unavailable');
    expect((await http.create({ max_output_tokens: 4 })).status, 'the embedded model').toBe(200);

    await writeFile(weights(), await readFile(folder.path('kept')));
    // Nobody loads it by hand.
    const answer = await waitFor('a create to work', async () => {
      const { status, body } = await http.create({ model: 'mine', max_output_tokens: 4 });
      expect([200, 503]).toContain(status);
      return status === 200 ? body : null;
    });
    expect(answer.model).toBe('mine');
    expect(await read()).toMatchObject({ state: 'loaded', error: null });
    expect((await http.call('POST', '/v1/models/unload', { model: 'mine' })).status).toBe(200);
    expect((await http.call('DELETE', '/v1/models/mine')).status).toBe(200);
  });
});
