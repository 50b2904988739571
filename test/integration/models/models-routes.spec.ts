import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONFIG, loadConfig } from '../../../src/config/index.js';
import type { ErrorBody } from '../../../src/errors/index.js';
import { configureApp, EDGE_OPTIONS, HttpModule } from '../../../src/http/index.js';
import type { ModelObject, ModelSeat } from '../../../src/models/index.js';
import { FolderInspector } from '../../../src/models/folder-inspector.js';
import { ModelCatalogue } from '../../../src/models/model-catalogue.js';
import { ModelLoader } from '../../../src/models/model-loader.js';
import { ModelResidency } from '../../../src/models/model-residency.js';
import { ModelsController } from '../../../src/models/models.controller.js';
import { MonotonicClock } from '../../../src/models/monotonic-clock.js';
import { Notices } from '../../../src/notices/index.js';
import { distEntry } from '../../support/dist-entry.js';
import { FakeEngine } from '../../support/fake-engine.js';
import { openTestStore, type TestStore } from '../../support/store.js';
import { NO_ENCODERS } from './manual-engine.js';
import { ModelFolder } from './model-folder.js';

let test: TestStore;
let folder: ModelFolder;
let engine: FakeEngine;
let residency: ModelResidency;
let app: NestExpressApplication;
let url: string;

beforeAll(async () => {
  [test, folder] = await Promise.all([openTestStore(), ModelFolder.copy()]);
  engine = new FakeEngine();
  const config = loadConfig({});
  const notices = new Notices();
  const inspector = new FolderInspector(distEntry('models/inspection-worker.js'));
  const catalogue = new ModelCatalogue(test.store.units, test.store.reader, notices, inspector, config);
  const loader = new ModelLoader(catalogue, engine, config, notices, NO_ENCODERS);
  residency = new ModelResidency(catalogue, loader, config, notices, new MonotonicClock());
  await catalogue.seed([folder.as('pocket'), { ...folder.as('org/deep/name'), aliases: ['gpt-local'] }]);
  const module = await Test.createTestingModule({
    imports: [HttpModule],
    controllers: [ModelsController],
    providers: [
      { provide: ModelCatalogue, useValue: catalogue },
      { provide: ModelResidency, useValue: residency },
    ],
  })
    .overrideProvider(CONFIG)
    .useValue(config)
    .compile();
  app = configureApp(module.createNestApplication<NestExpressApplication>({ ...EDGE_OPTIONS, logger: false }));
  await app.listen(0, '127.0.0.1');
  url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}/v1/models`;
});

afterAll(async () => {
  await app.close();
  await residency.stop();
  await test.close();
  await folder.remove();
});

interface Answer {
  status: number;
  body: ModelObject & { error: ErrorBody };
}

async function get(path: string): Promise<Answer> {
  const answer = await fetch(`${url}${path}`);
  return { status: answer.status, body: await answer.json() };
}

async function post(path: string, body: object): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

describe('/v1/models (WIRE B2)', () => {
  it('lists all models without loading one', async () => {
    const { status, body } = await get('');
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'list', data: [{ id: 'org/deep/name' }, { id: 'pocket', object: 'model' }] });
    expect(engine.models).toHaveLength(0);
  });

  it.each(['/pocket', '/org/deep/name', '/org%2Fdeep%2Fname', '/gpt-local'])('reads one at %s', async (path) => {
    const { status, body } = await get(path);
    expect(status).toBe(200);
    expect(['pocket', 'org/deep/name']).toContain(body.id);
    expect(body.lmsp.state).toBe('available');
  });

  it.each(['/nope', '/pocket/nope', '/..%2Fpocket', '/load'])('knows no model at %s', async (path) => {
    const { status, body } = await get(path);
    expect(status).toBe(404);
    expect(body.error).toMatchObject({ type: 'invalid_request_error', code: 'model_not_found', param: 'model' });
  });

  it('loads and unloads, and shows both', async () => {
    const loaded = await post('/load', { model: 'pocket', keep_alive_seconds: null });
    expect(loaded.status).toBe(200);
    expect(loaded.body).toMatchObject({ id: 'pocket', lmsp: { state: 'loaded', loaded_at: expect.any(Number) } });
    expect((await get('/pocket')).body).toEqual(loaded.body);

    const seat = residency.seat('pocket') as ModelSeat;
    const refused = await post('/unload', { model: 'pocket' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'model_in_use']);
    seat.release();

    const unloaded = await post('/unload', { model: 'pocket' });
    expect(unloaded.status).toBe(200);
    expect(unloaded.body).toMatchObject({ id: 'pocket', lmsp: { state: 'available', loaded_at: null } });
    expect(engine.models).toHaveLength(0);
  });

  it('answers 500 model_load_failed for broken files and shows the model as broken', async () => {
    await folder.flip('tokenizer.json');
    const refused = await post('/load', { model: 'gpt-local' });
    expect(refused.status).toBe(500);
    expect(refused.body.error).toMatchObject({ type: 'model_error', code: 'model_load_failed' });
    expect(JSON.stringify(refused.body)).not.toContain(folder.directory);
    const { body } = await get('/org/deep/name');
    expect(body.lmsp).toMatchObject({ state: 'error', error: { code: 'model_digest_mismatch' } });
    await folder.flip('tokenizer.json');
    expect((await post('/load', { model: 'gpt-local' })).body.lmsp).toMatchObject({ state: 'loaded', error: null });
  });

  it.each([
    ['/load', {}, 400, 'missing_required_parameter', 'model'],
    ['/load', { model: 7 }, 400, 'invalid_type', 'model'],
    ['/unload', { model: '' }, 400, 'invalid_value', 'model'],
    ['/load', { model: 'pocket', keep_alive_seconds: -2 }, 400, 'invalid_value', 'keep_alive_seconds'],
    ['/load', { model: 'nope' }, 404, 'model_not_found', 'model'],
    ['/unload', { model: 'nope' }, 404, 'model_not_found', 'model'],
  ])('refuses POST %s with %j', async (path, body, status, code, param) => {
    const refused = await post(path, body);
    expect(refused.status).toBe(status);
    expect(refused.body.error).toMatchObject({ code, param });
  });
});
