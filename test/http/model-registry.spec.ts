import { cp, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ModelFolder } from '../integration/models/model-folder.js';
import { HttpApp, type Answer } from '../support/http-app.js';
import { graphWithOperator, graphWithWeightsAt } from '../support/onnx-wire.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
let folder: ModelFolder;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

const copied = async (): Promise<ModelFolder> => (folder = await ModelFolder.copy());
const register = (fields: Record<string, unknown> = {}): Promise<Answer> => {
  const source = { type: 'directory', path: folder.directory };
  return http.call('POST', '/v1/models', { id: 'mine', type: 'llm', source, ...fields });
};
const read = async (id = 'mine') => (await http.call('GET', `/v1/models/${id}`)).body.lmsp;
const settled = (id = 'mine') =>
  waitFor('the files to be read', async () => {
    const model = await read(id);
    return model.state === 'verifying' ? null : model;
  });

afterEach(async () => {
  await http.call('DELETE', '/v1/models/mine');
  await folder.remove();
});

describe('a model that a person registers (WIRE B2)', () => {
  it('is verified behind the answer, answers by id and alias, and is forgotten with its files left', async () => {
    await copied();
    const { status, body } = await register({ dtype: 'q4', aliases: ['org/mine:latest'], context_length: 512 });
    expect([status, body.lmsp.state, body.lmsp.digest]).toEqual([201, 'verifying', null]);
    expect(body).toMatchObject({ id: 'mine', owned_by: 'local', lmsp: { aliases: ['org/mine:latest'] } });
    const model = await settled();
    expect(model).toMatchObject({ state: 'available', error: null, context_length: 512, activations: 'int8' });
    expect(model.digest).toMatch(/^sha256:/);
    const answer = await http.create({ model: 'org/mine:latest', store: false });
    expect([answer.status, answer.body.model]).toEqual([200, 'mine']);
    const gone = await http.call('DELETE', '/v1/models/mine');
    expect([gone.status, gone.body]).toEqual([200, { id: 'mine', object: 'model', deleted: true }]);
    expect((await http.call('GET', '/v1/models/mine')).status).toBe(404);
    expect((await register()).status).toBe(201);
  });

  it('stands in the record of who did what', async () => {
    await copied();
    await register();
    await http.call('DELETE', '/v1/models/mine');
    const { body } = await http.call('GET', '/v1/audit?action=model.registered,model.deleted&limit=2');
    expect(body.data).toMatchObject([
      { action: 'model.deleted', target: 'mine', outcome: 'done' },
      {
        action: 'model.registered',
        target: 'mine',
        detail: { layout: 'huggingface', graph_file: 'onnx/model_q4.onnx' },
      },
    ]);
  });

  it('may lie in the layout of onnxruntime-genai', async () => {
    await copied();
    await rename(folder.path('onnx/model.onnx'), folder.path('model.onnx'));
    await rm(folder.path('onnx'), { recursive: true });
    await rm(folder.path('config.json'));
    const config = { model: { context_length: 2048, decoder: { filename: 'model.onnx' } } };
    await writeFile(folder.path('genai_config.json'), JSON.stringify(config));
    expect((await register({ layout: 'huggingface' })).body.error.param).toBe('source.path');
    expect((await register()).status).toBe(201);
    expect(await settled()).toMatchObject({ state: 'available', context_length: 2048 });
  });

  it.each([
    [{ source: { type: 'directory', path: 'models/pocket' } }, 'source.path'],
    [{ source: { type: 'directory', path: '/no/such/folder' } }, 'source.path'],
    [{ source: { type: 'directory', path: '/tmp\0/x' } }, 'source.path'],
    [{ dtype: 'fp16' }, 'dtype'],
    [{ layout: 'genai' }, 'source.path'],
    [{ id: '..%2f..%2fx' }, 'id'],
    [{ id: '../x' }, 'id'],
    [{ id: '/etc' }, 'id'],
    [{ aliases: ['a', 'a'] }, 'aliases'],
    [{ context_length: 1 }, 'context_length'],
  ])('is refused with %j', async (fields, param) => {
    await copied();
    const { status, body } = await register(fields);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', param]);
  });

  it('takes no name that another has', async () => {
    await copied();
    for (const names of [{ id: 'pocket' }, { aliases: ['pocket'] }, { aliases: ['mine'] }]) {
      const { status, body } = await register(names);
      expect([status, body.error.code]).toEqual([409, 'model_exists']);
    }
  });

  it('stays while unfinished tasks name it, and the embedded one always', async () => {
    await copied();
    await register();
    await settled();
    http.engine.hold('steps');
    const { lmsp } = await http.accept({ model: 'mine' });
    expect((await http.call('DELETE', '/v1/models/mine')).body.error.code).toBe('model_in_use');
    http.engine.release('steps');
    await http.task(lmsp.task_id, 'completed');
    expect((await http.call('DELETE', '/v1/models/pocket')).body.error.code).toBe('model_in_use');
    await waitFor('it to be free', async () => (await http.call('DELETE', '/v1/models/mine')).status === 200);
  });
});

describe('files that cannot be what they should (BL-33, BL-34)', () => {
  const graph = 'onnx/model.onnx';
  it.each<[string, string, RegExp, () => Promise<unknown>]>([
    ['a graph that is cut by a byte', 'model_unsupported', /onnx\/model\.onnx: it is cut off/, () => folder.cut(graph)],
    ['an empty tokenizer', 'model_unsupported', /tokenizer\.json/, () => truncate(folder.path('tokenizer.json'))],
    ['no tokenizer', 'model_file_missing', /tokenizer\.json/, () => rm(folder.path('tokenizer.json'))],
    [
      'an operator that nobody has',
      'model_unsupported',
      /operator acme\.Magic/,
      () => writeFile(folder.path(graph), graphWithOperator('acme', 'Magic')),
    ],
    [
      'weights that are missing',
      'model_file_missing',
      /onnx\/w\.bin/,
      () => writeFile(folder.path(graph), graphWithWeightsAt('w.bin')),
    ],
    [
      'weights outside of the folder',
      'model_unsupported',
      /external data/,
      () => writeFile(folder.path(graph), graphWithWeightsAt('../../secret')),
    ],
    [
      'a link that leads out of the folder',
      'model_unsupported',
      /leads outside/,
      async () => {
        await mkdir(join(folder.directory, '../outside'));
        await cp(folder.path('config.json'), join(folder.directory, '../outside/config.json'));
        await rm(folder.path('config.json'));
        await symlink('../outside/config.json', folder.path('config.json'));
      },
    ],
  ])('make the model broken, and no other: %s', async (_, code, message, damage) => {
    await copied();
    await damage();
    expect((await register({ dtype: 'fp32' })).status).toBe(201);
    const { state, error } = await settled();
    expect([['error', 'missing'].includes(state), error.code]).toEqual([true, code]);
    expect(error.message).toMatch(message);
    const refused = await http.create({ model: 'mine' });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'model_unavailable']);
    expect((await http.create()).status).toBe(200);
  });

  it('are noticed when they change later: flipped, cut, swapped', async () => {
    await copied();
    await register({ dtype: 'fp32' });
    await settled();
    const swap = () => cp(folder.path('onnx/model_q4.onnx'), folder.path(graph));
    for (const damage of [() => folder.flip('tokenizer.json'), () => folder.cut(graph), swap]) {
      await damage();
      expect((await http.call('POST', '/v1/models/load', { model: 'mine' })).body.error.code).toBe('model_load_failed');
      expect((await read()).error.code).toBe('model_digest_mismatch');
    }
  });
});
