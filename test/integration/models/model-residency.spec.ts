import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../../src/errors/index.js';
import { loadConfig } from '../../../src/config/index.js';
import type { ModelSeat } from '../../../src/models/index.js';
import { FolderInspector } from '../../../src/models/folder-inspector.js';
import { ModelCatalogue } from '../../../src/models/model-catalogue.js';
import { ModelLoader } from '../../../src/models/model-loader.js';
import { ModelResidency } from '../../../src/models/model-residency.js';
import { Notices, type NoticeName } from '../../../src/notices/index.js';
import { distEntry } from '../../support/dist-entry.js';
import { openTestStore, type TestStore } from '../../support/store.js';
import { waitFor } from '../../support/wait-for.js';
import { ManualClock } from './manual-clock.js';
import { ManualEngine, NO_ENCODERS, type ManualModel } from './manual-engine.js';
import { ModelFolder } from './model-folder.js';

const MAX_ROWS = 8;
const MAX_WAITING = 60;

let test: TestStore;
let folder: ModelFolder;
let other: ModelFolder;
let engine: ManualEngine;
let clock: ManualClock;
let catalogue: ModelCatalogue;
let residency: ModelResidency;
let notices: Notices;
let seen: NoticeName[];

beforeEach(async () => {
  [test, folder, other] = await Promise.all([openTestStore(), ModelFolder.copy(), ModelFolder.copy()]);
  engine = new ManualEngine();
  clock = new ManualClock();
  notices = new Notices();
  seen = [];
  notices.onAny((name) => void seen.push(name));
  const config = loadConfig({ LMSP_MAX_ROWS: `${MAX_ROWS}`, LMSP_MAX_WAITING_REQUESTS: `${MAX_WAITING}` });
  const inspector = new FolderInspector(distEntry('models/inspection-worker.js'));
  catalogue = new ModelCatalogue(test.store.units, test.store.reader, notices, inspector, config);
  const loader = new ModelLoader(catalogue, engine, config, notices, NO_ENCODERS);
  residency = new ModelResidency(catalogue, loader, config, notices, clock);
  await catalogue.seed([folder.as('pocket'), other.as('other')]);
  seen.length = 0;
});

afterEach(async () => {
  await residency.stop();
  await test.close();
  await Promise.all([folder.remove(), other.remove()]);
});

const never = () => new AbortController().signal;

function taken(id: string): ModelSeat {
  const seat = residency.seat(id);
  if (seat === null || seat instanceof DomainError) throw new Error('no seat was given');
  return seat;
}

/** Lets the load that the engine is asked for as the `count`th succeed. */
async function opened(count: number): Promise<ManualModel> {
  const opening = await waitFor(`opening ${count}`, () => engine.openings[count - 1]);
  return opening.succeed();
}

async function expectFailedLoad(id: string, state: string, code: string): Promise<void> {
  await expect(taken(id).model).rejects.toMatchObject({ code: 'model_load_failed' });
  expect(engine.openings).toHaveLength(0);
  expect(await catalogue.get(id)).toMatchObject({ state, error: { code } });
  expect(seen).toEqual(['model.loading', 'model.broken', 'model.load_failed']);
}

describe('a load', () => {
  it('is one for 50 who wait: as many as rows get seats, each release serves the next', async () => {
    const served: ModelSeat[] = [];
    const all = Array.from({ length: 50 }, (_, i) =>
      residency.waitSeat('pocket', `cli_${i % 2}`, never()).then((seat) => void served.push(seat)),
    );
    expect(residency.runtime('pocket')).toMatchObject({ state: 'loading', loadedAt: null });
    const model = await opened(1);
    await waitFor('the first rows', () => served.length === MAX_ROWS);
    for (let i = 0; i < 50; i += 1) {
      const seat = await waitFor('the next seat', () => served[i]);
      expect((await seat.model).incarnation).toBe(model.incarnation);
      expect(served.length).toBeLessThanOrEqual(i + MAX_ROWS);
      seat.release();
    }
    await Promise.all(all);
    expect(engine.openings).toHaveLength(1);
    expect(new Set(served.map(({ owner }) => owner)).size).toBe(1);
    expect(residency.runtime('pocket')).toMatchObject({ state: 'loaded', loadedAt: expect.any(Number) as number });
    expect(seen).toEqual(['model.loading', 'model.loaded']);
  });

  it('tells what an operator should know about a loaded model (CASES BL-23: no end token)', async () => {
    const told: object[] = [];
    notices.on('model.warning', (notice) => void told.push(notice));
    const load = residency.load('pocket');
    await waitFor('the load', () => engine.openings[0]);
    engine.openings[0]?.succeed({ warnings: ['the model names no end token'] });
    await load;
    expect(told).toEqual([{ model: 'pocket', reason: 'the model names no end token' }]);
  });

  it('hands the engine folder, graph, digest, rows and threads, and shows what the load measured (ENGINE 2.8)', async () => {
    const load = residency.load('pocket');
    await opened(1);
    expect(residency.exact('pocket')).toBeNull();
    await load;
    expect(residency.exact('pocket')).toEqual({ resume: true, batchInvariant: true });
    expect(engine.last().spec).toEqual({
      id: 'pocket',
      directory: folder.directory,
      contextLength: 2048,
      graphFile: 'onnx/model.onnx',
      rows: MAX_ROWS,
      threads: loadConfig({}).threads,
      digest: expect.stringMatching(/^sha256:/) as string,
      batchInvariant: false,
      activations: 'file',
      provider: { name: 'cpu', deviceId: 0, fallback: false },
      prefixCacheBytes: Math.min(loadConfig({}).prefixCacheBytes, Math.floor(loadConfig({}).modelMemoryBytes / 8)),
      gatherMs: loadConfig({}).stepGatherMs,
    });
  });

  it('waits for the one before it: one at a time over all models', async () => {
    const first = residency.load('pocket');
    const second = residency.load('other');
    const opening = await waitFor('the first', () => engine.openings[0]);
    expect(residency.runtime('other')?.state).toBe('loading');
    expect(engine.openings).toHaveLength(1);
    opening.fail(new Error('unusable'));
    await expect(first).rejects.toMatchObject({ code: 'model_load_failed' });
    await opened(2);
    await second;
    expect(engine.last().spec.id).toBe('other');
  });

  it('of an unknown model is model_not_found', async () => {
    await expect(residency.load('nope')).rejects.toMatchObject({ code: 'model_not_found' });
  });
});

describe('the digest at load', () => {
  it('differs after one flipped byte: the model is broken, another one works, restored files load', async () => {
    const { digest } = await catalogue.get('pocket');
    await folder.flip('onnx/model.onnx');
    await expectFailedLoad('pocket', 'error', 'model_digest_mismatch');
    const whole = residency.load('other');
    await opened(1);
    await whole;
    await folder.flip('onnx/model.onnx');
    const restored = residency.load('pocket');
    await opened(2);
    await restored;
    expect(await catalogue.get('pocket')).toMatchObject({ state: 'available', error: null, digest });
  });

  it('differs after new files with sums that match, too: only a start registers them', async () => {
    await folder.flip('onnx/model.onnx');
    await folder.declare('onnx/model.onnx');
    await expectFailedLoad('pocket', 'error', 'model_digest_mismatch');
  });

  it('differs for a file that was cut by one byte (CASES BL-33)', async () => {
    await folder.cut('tokenizer.json');
    await expectFailedLoad('pocket', 'error', 'model_digest_mismatch');
  });

  it('cannot be had when a file is missing', async () => {
    await rm(folder.path('tokenizer.json'));
    await expectFailedLoad('pocket', 'missing', 'model_file_missing');
  });
});

describe('seats', () => {
  it('are waited for by a bounded number of requests over all models, then it is queue_full', async () => {
    const holders = [...Array(MAX_ROWS).keys()].map(() => taken('pocket'));
    const leaving = Array.from({ length: MAX_WAITING }, () => new AbortController());
    const waiting = leaving.map(({ signal }, i) => residency.waitSeat('pocket', `cli_${i % 2}`, signal));
    holders.push(...[...Array(MAX_ROWS).keys()].map(() => taken('other')));
    const refused = { code: 'queue_full', retryAfterSeconds: 1 };
    await expect(residency.waitSeat('pocket', 'cli_a', never())).rejects.toMatchObject(refused);
    await expect(residency.waitSeat('other', 'cli_a', never())).rejects.toMatchObject(refused);
    for (const one of leaving) one.abort(new Error('client gone'));
    await Promise.all(waiting.map((seat) => expect(seat).rejects.toThrow('client gone')));
    const next = residency.waitSeat('other', 'cli_a', never());
    holders.at(-1)?.release();
    (await next).release();
  });

  it('are waited for by one client in half of that number at most, which leaves room to the others', async () => {
    const holders = [...Array(MAX_ROWS).keys()].map(() => taken('pocket'));
    const leaving = new AbortController();
    const wait = (client: string) => residency.waitSeat('pocket', client, leaving.signal);
    const waiting = Array.from({ length: MAX_WAITING / 2 }, () => wait('cli_a'));
    await expect(wait('cli_a')).rejects.toMatchObject({ code: 'queue_full', retryAfterSeconds: 1 });
    const other = wait('cli_b');
    leaving.abort(new Error('client gone'));
    await Promise.all([...waiting, other].map((seat) => expect(seat).rejects.toThrow('client gone')));
    for (const seat of holders) seat.release();
  });

  it('of a model that died are told of after the backoff, and the next seat loads it again', async () => {
    const told: string[] = [];
    const silence = residency.onSeatFree((id) => void told.push(id));
    const seat = taken('pocket');
    const model = await opened(1);
    await seat.model;
    model.die();
    await waitFor('the loss', () => residency.runtime('pocket') === null);
    expect(seen.at(-1)).toBe('runner.lost');
    expect(residency.seat('pocket')).toBeNull();
    clock.advance(249);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual(['pocket']);
    const again = taken('pocket');
    expect(again.owner).not.toBe(seat.owner);
    await opened(2);
    await again.model;
    silence();
  });

  it('keep a model from being unloaded; without them its process ends and the next seat loads it again', async () => {
    const seat = taken('pocket');
    const model = await opened(1);
    await seat.model;
    await expect(residency.unload('pocket')).rejects.toMatchObject({ code: 'model_in_use', param: 'model' });
    seat.release();
    seen.length = 0;
    await residency.unload('pocket');
    await residency.unload('pocket');
    expect(seen).toEqual(['model.unloaded']);
    expect(model.closed).toBe(true);
    expect(residency.runtime('pocket')).toBeNull();
    const again = taken('pocket');
    await opened(2);
    await again.model;
  });
});

describe('stop', () => {
  it('ends processes, loads and waits without a notice of failure (WIRE B6)', async () => {
    const held = taken('pocket');
    const model = await opened(1);
    await held.model;
    const loading = taken('other');
    await waitFor('the second load', () => engine.openings.length === 2);
    const waiting = Array.from({ length: MAX_ROWS }, () => residency.waitSeat('pocket', 'cli_a', never())).at(-1);
    seen.length = 0;
    const stopped = { code: 'server_shutting_down' };
    await Promise.all([
      residency.stop(),
      expect(loading.model).rejects.toMatchObject(stopped),
      expect(waiting).rejects.toMatchObject(stopped),
    ]);
    expect(model.closed).toBe(true);
    expect(seen).toEqual([]);
    expect(residency.seat('pocket')).toBeNull();
    await expect(residency.waitSeat('third', 'cli_a', never())).rejects.toMatchObject(stopped);
    await expect(residency.load('third')).rejects.toMatchObject(stopped);
  });
});
