import { afterEach, describe, expect, it } from 'vitest';
import { realEngine } from '../contract/pocket.js';
import { ModelFolder } from '../integration/models/model-folder.js';
import { HttpApp, type Answer } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
let folder: ModelFolder;
afterEach(async () => {
  await http.close();
  await folder.remove();
});

async function start(env: Record<string, string>): Promise<void> {
  folder = await ModelFolder.copy();
  http = await HttpApp.start({ otherEngine: realEngine(), env });
}

async function register(fields: Record<string, unknown>, id = 'mine'): Promise<Answer> {
  const source = { type: 'directory', path: folder.directory };
  const answer = await http.call('POST', '/v1/models', { id, type: 'llm', source, ...fields });
  if (answer.status === 201) await waitFor('it to be verified', async () => ((await read(id)).digest ? true : null));
  return answer;
}

const read = async (id: string) => (await http.call('GET', `/v1/models/${id}`)).body.lmsp;
const load = (model: string) => http.call('POST', '/v1/models/load', { model });

describe('how a model is computed', () => {
  it('is as the service is set, but for a model that says otherwise', async () => {
    await start({ LMSP_ACTIVATIONS: 'file' });
    expect((await register({}, 'as-set')).body.lmsp).toMatchObject({
      activations: 'file',
      execution_provider: { requested: 'cpu', used: null, device_id: null, reason: null },
    });
    expect((await register({ activations: 'int8' }, 'quick')).body.lmsp.activations).toBe('int8');
    expect((await load('quick')).body.lmsp).toMatchObject({
      state: 'loaded',
      execution_provider: { requested: 'cpu', used: 'cpu', device_id: null, reason: null },
    });
    expect((await register({ activations: 'int4' }, 'x')).body.error.param).toBe('activations');
    expect((await register({ execution_provider: 'rocm' }, 'x')).body.error.param).toBe('execution_provider');
    expect((await register({ device_id: -1 }, 'x')).body.error.param).toBe('device_id');
  });

  it('by a graphics card that is not there fails the load and no other model', async () => {
    await start({});
    const { body } = await register({ execution_provider: 'cuda', device_id: 1 });
    expect(body.lmsp).toMatchObject({
      activations: 'file',
      execution_provider: { requested: 'cuda', used: null, device_id: 1, reason: null },
    });
    const refused = await load('mine');
    expect([refused.status, refused.body.error.code]).toEqual([500, 'model_load_failed']);
    expect(refused.body.error.message).toMatch(/cuda \(device 1\) cannot be used: .*LMSP_PROVIDER_FALLBACK=cpu/s);
    expect(await read('mine')).toMatchObject({ state: 'available', error: null });
    expect((await http.create({ max_output_tokens: 4 })).status, 'the embedded model').toBe(200);
  });

  it('by the processor in the place of a missing card, where that is allowed', async () => {
    await start({ LMSP_EXECUTION_PROVIDER: 'cuda', LMSP_CUDA_DEVICE: '2', LMSP_PROVIDER_FALLBACK: 'cpu' });
    await register({ execution_provider: 'cpu' });
    expect((await load('pocket')).body.lmsp.execution_provider).toMatchObject({
      requested: 'cuda',
      used: 'cpu',
      device_id: 2,
      reason: expect.stringContaining('cannot be used') as string,
    });
    expect((await load('mine')).body.lmsp.execution_provider).toMatchObject({ requested: 'cpu', used: 'cpu' });
    expect((await http.create({ max_output_tokens: 4 })).status).toBe(200);
  });
});
