import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import { ModelAdoption } from '../../src/models/index.js';
import { PullLeftovers } from '../../src/pulls/pull-leftovers.js';
import { FakeHub, type HubFile } from '../support/fake-hub.js';
import { HttpApp, type Answer } from '../support/http-app.js';
import { answers, cutAt, stallAt } from '../support/hub-faults.js';
import { graphWithWeightsAt } from '../support/onnx-wire.js';
import { waitFor } from '../support/wait-for.js';

const POCKET = join(packageRoot(), 'models/pocket-embed');
const GRAPH = 'onnx/model.onnx';
/** Of the graph, about. */
const HALF = 500_000;
const DAY_MS = 86_400_000;

let http: HttpApp;
let hub: FakeHub;
let repositories = 0;
let repository: string;

beforeAll(async () => {
  // The address stays; what is there is another hub for each test.
  const first = await FakeHub.start('none/none', []);
  const { port } = first;
  await first.close();
  http = await HttpApp.start({
    env: { LMSP_HUB_URL: `http://127.0.0.1:${port}`, LMSP_PULL_STALL_SECONDS: '1', LMSP_PULL_TRIES: '2' },
  });
});
afterAll(() => http.close());
beforeEach(() => serve(POCKET));
afterEach(() => hub.close());

const hubPort = (): number => Number(new URL(hubUrl()).port);
const hubUrl = (): string => http.config.hubUrl;

async function serve(source: string | HubFile[]): Promise<void> {
  repository = `org/model-${(repositories += 1)}`;
  hub = await FakeHub.start(repository, source, hubPort());
}

const pull = (fields: Record<string, unknown> = {}, headers?: Record<string, string>): Promise<Answer> =>
  http.call('POST', '/v1/models/pull', { repository, ...fields }, headers);

async function accepted(fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await pull(fields);
  expect([status, body.type, body.status]).toEqual([202, 'model.pull', 'queued']);
  return body.id as string;
}

const ended = async (fields: Record<string, unknown> = {}) =>
  http.task(await accepted(fields), 'completed', 'failed', 'cancelled');
const eventsOf = async (id: string) => (await http.call('GET', `/v1/tasks/${id}/events?limit=1000`)).body.data;
const total = (): number => [...hub.served.values()].reduce((sum, bytes) => sum + bytes, 0);
const halfway = (id: string) =>
  waitFor('half of the graph', async () => {
    const parts = join(http.dataDir, 'pulls');
    for (const folder of await readdir(parts).catch(() => [])) {
      for (const part of await readdir(join(parts, folder, 'parts')).catch(() => [])) {
        const { size } = await stat(join(parts, folder, 'parts', part)).catch(() => ({ size: 0 }));
        if (size === HALF) return true;
      }
    }
    expect((await http.call('GET', `/v1/tasks/${id}`)).body.error).toBeNull();
    return false;
  });

describe('POST /v1/models/pull (WIRE B2)', () => {
  it('is 202 with a task of type model.pull, which fetches what the loader reads and registers the model', async () => {
    const { status, body, headers } = await pull({ id: 'pulled' });
    expect([status, headers.get('location')]).toEqual([202, `/v1/tasks/${body.id}`]);
    expect(body).toMatchObject({ type: 'model.pull', response_id: null, model: null, on_restart: 'resume' });
    const task = await http.task(body.id, 'completed', 'failed');
    expect(task.error).toBeNull();
    const model = (await http.call('GET', '/v1/models/pulled')).body;
    expect(model.lmsp).toMatchObject({ state: 'available', type: 'embedding', error: null });
    expect(task.result).toEqual({
      model: 'pulled',
      repository,
      revision: 'main',
      commit: hub.commit,
      digest: model.lmsp.digest,
      size_bytes: model.lmsp.size_bytes,
    });
    expect([...hub.served.keys()].sort()).toEqual([
      '1_Pooling/config.json',
      'config.json',
      'modules.json',
      'onnx/model.onnx',
      'sentence_bert_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    const embedding = await http.call('POST', '/v1/embeddings', { model: 'pulled', input: 'a bear' });
    expect(embedding.status).toBe(200);
  });

  it('tells its life in events: the names of the lifecycle with a task, and its own', async () => {
    const task = await ended();
    const events = await eventsOf(task.id);
    const types = events.map(({ type }: { type: string }) => type);
    expect(types.slice(0, 4)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
      'model.pull.resolved',
    ]);
    expect(types.at(-1)).toBe('response.completed');
    expect(events[3]).toMatchObject({ repository, revision: 'main', commit: hub.commit });
    const progress = events.filter(({ type }: { type: string }) => type === 'model.pull.progress');
    expect(progress.at(-1)).toMatchObject({ bytes: total(), total_bytes: total() });
    const last = events.at(-1).task;
    expect(last).toMatchObject({ id: task.id, status: 'completed', result: task.result });
  });

  it('stands in the record of who did what', async () => {
    const task = await ended();
    const { body } = await http.call('GET', '/v1/audit?action=model.pull,model.registered&limit=2');
    expect(body.data).toMatchObject([
      { action: 'model.registered', target: repository, detail: { repository, commit: hub.commit, task_id: task.id } },
      { action: 'model.pull', target: task.id, detail: { repository, revision: 'main' } },
    ]);
  });

  it.each([
    [{ repository: '../x' }, 'repository'],
    [{ repository: 'a/b/c' }, 'repository'],
    [{ repository: 'https://x/y' }, 'repository'],
    [{ repository: undefined }, 'repository'],
    [{ revision: '../main' }, 'revision'],
    [{ revision: 'a b' }, 'revision'],
    [{ id: '..%2f..%2fx' }, 'id'],
    [{ id: '../x' }, 'id'],
    [{ dtype: 'fp12' }, 'dtype'],
    [{ repository: '_org/x' }, 'id'],
  ])('is refused with %j', async (fields, param) => {
    const { status, body } = await pull(fields);
    expect([status, body.error.param]).toEqual([400, param]);
  });

  it('makes one task of one Idempotency-Key, and answers a repeat as the first', async () => {
    const key = { 'Idempotency-Key': `k-${repository}` };
    const [first, second] = await Promise.all([pull({}, key), pull({}, key)]);
    const third = await pull({}, key);
    expect([second.body, third.body]).toEqual([first.body, first.body]);
    expect([first.status, third.status, third.headers.get('idempotent-replayed')]).toEqual([202, 202, 'true']);
    expect((await pull({ id: 'other' }, key)).status).toBe(422);
    await http.task(first.body.id, 'completed');
  });
});

describe('a pull that is not alone', () => {
  it('is 409 while the repository or the name is being pulled, naming the task', async () => {
    hub.fault(GRAPH, stallAt(1000), 100);
    const id = await accepted();
    for (const fields of [{}, { id: 'other' }, { repository: 'org/other', id: repository }]) {
      const { status, body } = await pull(fields);
      expect([status, body.error.code]).toEqual([409, 'pull_in_progress']);
      expect(body.error.message).toContain(id);
    }
    await http.call('POST', `/v1/tasks/${id}/cancel`);
    await http.task(id, 'cancelled');
  });

  it('is 409 model_exists where the name is another model', async () => {
    const { status, body } = await pull({ id: 'pocket' });
    expect([status, body.error.code]).toEqual([409, 'model_exists']);
  });

  it('fails with model_exists where somebody takes the name in the moment of its completion', async () => {
    const adoption = http.app.get(ModelAdoption, { strict: false });
    const examine = adoption.examine.bind(adoption);
    vi.spyOn(adoption, 'examine').mockImplementationOnce(async (folder, signal) => {
      const examined = await examine(folder, signal);
      const source = { type: 'directory', path: POCKET };
      expect((await http.call('POST', '/v1/models', { id: folder.id, type: 'embedding', source })).status).toBe(201);
      return examined;
    });
    const task = await ended();
    expect([task.status, task.error.code, task.result]).toEqual(['failed', 'model_exists', null]);
    expect((await eventsOf(task.id)).at(-1).type).toBe('response.failed');
    expect((await ended({ id: `${repository}-else` })).status).toBe('completed');
  });

  it('completes at once when the same commit was pulled before; another commit needs another name', async () => {
    expect((await ended()).status).toBe('completed');
    const before = total();
    const again = await ended();
    expect([again.status, total()]).toEqual(['completed', before]);
    hub.move('b'.repeat(40));
    expect((await ended()).error.code).toBe('model_exists');
    expect((await ended({ id: `${repository}-new` })).result.commit).toBe('b'.repeat(40));
  });
});

describe('a pull that is interrupted', () => {
  it('keeps on a cancel what was fetched: the same pull goes on, and no byte comes twice', async () => {
    hub.fault(GRAPH, stallAt(HALF), 100);
    const id = await accepted();
    await halfway(id);
    const cancelled = await http.call('POST', `/v1/tasks/${id}/cancel`);
    expect(cancelled.body.status).toBe('cancelled');
    expect((await http.call('GET', `/v1/models/${encodeURIComponent(repository)}`)).status).toBe(404);
    hub.fault(GRAPH, cutAt(HALF), 0);
    expect((await ended()).status).toBe('completed');
    expect(hub.served.get(GRAPH)).toBe(hub.bytes(GRAPH).length);
  });

  it('stays at its commit when the branch moves', async () => {
    hub.fault(GRAPH, async (request) => {
      hub.move('c'.repeat(40));
      await cutAt(1000)(request);
    });
    const task = await ended();
    expect([task.status, task.result.commit]).toEqual(['completed', 'a'.repeat(40)]);
  });

  it('fails when the hub stays away, with what to do, and leaves its parts until their time', async () => {
    hub.fault(GRAPH, stallAt(HALF), 1);
    const id = await accepted();
    await halfway(id);
    hub.everything = (_, answer) => Boolean(answer.destroy());
    const task = await http.task(id, 'failed', 'completed');
    expect(task.error.code).toBe('hub_unavailable');
    const leftovers = http.app.get(PullLeftovers, { strict: false });
    const left = async (): Promise<number> => (await readdir(join(http.dataDir, 'pulls'))).length;
    await leftovers.sweep(Date.now() + 6 * DAY_MS);
    expect(await left()).toBeGreaterThan(0);
    await leftovers.sweep(Date.now() + 8 * DAY_MS);
    expect(await left()).toBe(0);
  });
});

describe('what cannot become a model fails with a code', () => {
  const files = (changes: Record<string, Buffer | null>): HubFile[] => [
    ...hub.files.filter(({ path }) => !(path in changes)),
    ...Object.entries(changes).flatMap(([path, bytes]) => (bytes === null ? [] : [{ path, bytes }])),
  ];

  it.each<[string, Record<string, Buffer | null>, string]>([
    ['no graph', { [GRAPH]: null }, 'model_unsupported'],
    ['no tokenizer', { 'tokenizer.json': null }, 'model_unsupported'],
    ['an empty tokenizer', { 'tokenizer.json': Buffer.alloc(0) }, 'model_unsupported'],
    ['weights elsewhere', { [GRAPH]: graphWithWeightsAt('../../secret', 8) }, 'model_unsupported'],
    ['weights that it lacks', { [GRAPH]: graphWithWeightsAt('weights.bin', 8) }, 'model_unsupported'],
  ])('%s', async (_, changes, code) => {
    const changed = files(changes);
    await hub.close();
    await serve(changed);
    expect((await ended()).error.code).toBe(code);
    expect((await http.call('GET', `/v1/models/${encodeURIComponent(repository)}`)).status).toBe(404);
  });

  it('weights beside the graph come too, whatever their name', async () => {
    const changed = files({ [GRAPH]: graphWithWeightsAt('weights.bin', 8), 'onnx/weights.bin': Buffer.alloc(8) });
    await hub.close();
    await serve(changed);
    await ended();
    expect(hub.served.get('onnx/weights.bin')).toBe(8);
  });

  it('a dtype that is not there', async () => {
    const { error } = await ended({ dtype: 'q4' });
    expect([error.code, error.param]).toEqual(['invalid_value', 'dtype']);
  });

  it.each([
    [401, 'hub_access_denied'],
    [403, 'hub_access_denied'],
    [404, 'model_not_found'],
    [503, 'hub_unavailable'],
  ])('a hub that answers %i', async (status, code) => {
    hub.everything = (_, answer) => Boolean(answer.writeHead(status).end());
    expect((await ended()).error.code).toBe(code);
  });

  it('a listing that leads elsewhere: "refused while parsing, before any file or folder is made" (CASES BL-34)', async () => {
    const before = await readdir(http.dataDir, { recursive: true });
    hub.listing = (entries) => [...entries, { ...entries[0], path: '../../x' }];
    expect((await ended()).error.code).toBe('hub_answer_invalid');
    const after = await readdir(http.dataDir, { recursive: true });
    expect(after.filter((path) => !before.includes(path) && !/sqlite|runners/.test(path))).toEqual([]);
  });

  it('a file that is not what was listed: "an unchecked file never gets its final name" (CASES BL-33)', async () => {
    hub.fault('config.json', answers(200, { 'content-length': '0' }), 100);
    expect((await ended()).error.code).toBe('hub_answer_invalid');
  });
});
