import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/index.js';
import type { ModelRecord, ModelRuntime } from '../../../src/models/index.js';
import { embeddedModels } from '../../../src/models/embedded-models.js';
import { FolderInspector } from '../../../src/models/folder-inspector.js';
import { ModelCatalogue } from '../../../src/models/model-catalogue.js';
import { NEVER_LOADED } from '../../../src/models/model-object.js';
import { Notices } from '../../../src/notices/index.js';
import { distEntry } from '../../support/dist-entry.js';
import { openTestStore, type TestStore } from '../../support/store.js';
import { waitFor } from '../../support/wait-for.js';
import { ModelFolder } from './model-folder.js';

const LOADED: ModelRuntime = { state: 'loaded', loadedAt: 1999, provider: { used: 'cpu', reason: null } };

let test: TestStore;
let folder: ModelFolder;
let catalogue: ModelCatalogue;
let broken: string[];
let failed: string[];

beforeEach(async () => {
  test = await openTestStore();
  folder = await ModelFolder.copy();
  catalogue = catalogueWith(distEntry('models/inspection-worker.js'));
});

afterEach(async () => {
  await test.close();
  await folder.remove();
});

function catalogueWith(inspectionEntry: string): ModelCatalogue {
  const notices = new Notices();
  broken = [];
  failed = [];
  notices.on('model.broken', (notice) => void broken.push(notice.error_code));
  notices.on('model.load_failed', (notice) => void failed.push(notice.reason));
  return new ModelCatalogue(
    test.store.units,
    test.store.reader,
    notices,
    new FolderInspector(inspectionEntry),
    loadConfig({}),
  );
}

async function seeded(): Promise<ModelRecord> {
  await catalogue.seed([folder.as('pocket')]);
  return catalogue.get('pocket');
}

const never = () => new AbortController().signal;

/** What `sha256sum` wrote when the model was made, over the files that the loader reads. */
async function digestOfSums(): Promise<string> {
  const sums = await readFile(folder.path('SHA256SUMS'), 'utf8');
  const lines = sums.split('\n').filter((line) => line !== '' && !/MODEL_CARD|_q4/.test(line));
  const sorted = lines.sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1));
  return `sha256:${createHash('sha256')
    .update(`${sorted.join('\n')}\n`)
    .digest('hex')}`;
}

describe('the embedded model at start', () => {
  it('is registered with its digest and shown as WIRE B2 says', async () => {
    const record = await seeded();
    const wire = catalogue.toWire(record, NEVER_LOADED);
    expect(wire).toEqual({
      id: 'pocket',
      object: 'model',
      created: Math.floor(record.createdAt / 1000),
      owned_by: 'lmsp',
      lmsp: {
        type: 'llm',
        state: 'available',
        digest: await digestOfSums(),
        size_bytes: 3_699_128,
        format: 'onnx',
        context_length: 2048,
        embedding_dimensions: null,
        capabilities: ['text', 'chat'],
        aliases: [],
        loaded_at: null,
        pinned: false,
        keep_alive_seconds: null,
        memory_bytes: null,
        memory_estimate_bytes: null,
        last_used_at: null,
        unloads_at: null,
        error: null,
        activations: 'file',
        execution_provider: { requested: 'cpu', used: null, device_id: null, reason: null },
        exact: null,
      },
    });
    expect(catalogue.toWire(record, { ...NEVER_LOADED, runtime: LOADED }).lmsp).toMatchObject({
      state: 'loaded',
      loaded_at: 1,
      execution_provider: { requested: 'cpu', used: 'cpu', device_id: null, reason: null },
    });
  });

  it('lies in the package, from the sources as from the compiled files', async () => {
    const compiled = (await import(distEntry('models/embedded-models.js'))) as {
      embeddedModels: typeof embeddedModels;
    };
    expect(compiled.embeddedModels()).toEqual(embeddedModels());
    expect(embeddedModels().map(({ id }) => id)).toEqual(['pocket', 'pocket-embed']);
  });

  it('stays what it is at the next start, its time of registration included', async () => {
    const first = await seeded();
    expect(await seeded()).toEqual(first);
    expect(await catalogue.list()).toHaveLength(1);
  });

  it('is registered anew when an update of the package brings other files with sums that match', async () => {
    const first = await seeded();
    await writeFile(folder.path('generation_config.json'), '{"eos_token_id": 2}');
    await folder.declare('generation_config.json');
    const updated = await seeded();
    expect(updated.state).toBe('available');
    expect(updated.digest).toBe(await digestOfSums());
    expect(updated.digest).not.toBe(first.digest);
    expect(broken).toEqual([]);
  });

  it('follows the package to another folder', async () => {
    const first = await seeded();
    const moved = await ModelFolder.copy();
    await catalogue.seed([moved.as('pocket')]);
    expect(await catalogue.get('pocket')).toEqual({ ...first, directory: moved.directory });
    await moved.remove();
  });

  it('is broken by a changed byte, keeps its digest, and is available again once restored', async () => {
    const whole = await seeded();
    await folder.flip('onnx/model.onnx');
    const damaged = await seeded();
    expect(damaged).toMatchObject({ state: 'error', error: { code: 'model_digest_mismatch' }, digest: whole.digest });
    expect(broken).toEqual(['model_digest_mismatch']);
    await expect(catalogue.usable('pocket')).rejects.toMatchObject({ code: 'model_unavailable', param: 'model' });
    await seeded();
    expect(broken).toHaveLength(1);
    await folder.flip('onnx/model.onnx');
    expect(await seeded()).toEqual(whole);
    await expect(catalogue.usable('pocket')).resolves.toEqual(whole);
  });

  it('is broken from the first start on when its files were damaged on the way here', async () => {
    await folder.cut('tokenizer.json');
    expect(await seeded()).toMatchObject({ state: 'error', digest: null, error: { code: 'model_digest_mismatch' } });
    expect(catalogue.toWire(await catalogue.get('pocket'), NEVER_LOADED).lmsp.digest).toBeNull();
  });

  it('is not touched by a changed card', async () => {
    const first = await seeded();
    await writeFile(folder.path('MODEL_CARD.md'), 'new words');
    expect(await seeded()).toEqual(first);
  });

  it.each(['onnx/model.onnx', 'config.json', 'tokenizer.json', 'tokenizer_config.json'])(
    'is missing without %s, and the message names it',
    async (file) => {
      await seeded();
      await rm(folder.path(file));
      const record = await seeded();
      expect(record).toMatchObject({ state: 'missing', error: { code: 'model_file_missing' } });
      expect(record.error?.message).toContain(file);
    },
  );

  it('is missing without its folder, and the service starts nevertheless', async () => {
    await rm(folder.directory, { recursive: true });
    expect((await seeded()).state).toBe('missing');
    await expect(catalogue.usable('pocket')).rejects.toMatchObject({ code: 'model_unavailable' });
  });
});

describe('files of a model', () => {
  it('may not lead outside its folder by a link (CASES BL-34)', async () => {
    await rename(folder.path('config.json'), join(folder.directory, '../elsewhere.json'));
    await symlink('../elsewhere.json', folder.path('config.json'));
    expect(await seeded()).toMatchObject({ state: 'error', error: { code: 'model_unsupported' } });
  });

  it('may be links within it', async () => {
    await rename(folder.path('config.json'), folder.path('config.real.json'));
    await symlink('config.real.json', folder.path('config.json'));
    expect((await seeded()).state).toBe('available');
  });

  it('are files: a folder in the place of one is refused', async () => {
    await rm(folder.path('generation_config.json'));
    await mkdir(folder.path('generation_config.json'));
    expect(await seeded()).toMatchObject({ state: 'error', error: { code: 'model_unsupported' } });
  });

  it('include weights outside the graph', async () => {
    await seeded();
    await writeFile(folder.path('onnx/model.onnx_data'), 'weights');
    expect(await seeded()).toMatchObject({ state: 'error', error: { code: 'model_digest_mismatch' } });
    await folder.declare('onnx/model.onnx_data');
    expect((await seeded()).state).toBe('available');
  });

  it('are hashed in a thread: one that fails is a clean error and leaves the model unverified', async () => {
    const entry = join(test.dataDir, 'throws.mjs');
    await writeFile(entry, "throw new Error('bad disk');");
    catalogue = catalogueWith(entry);
    expect((await seeded()).state).toBe('verifying');
    expect(failed).toEqual([expect.stringContaining('bad disk')]);
    await expect(catalogue.verify('pocket', never())).rejects.toMatchObject({ code: 'model_load_failed' });
  });

  it('are hashed without the event loop, and an abort ends even a thread that hangs', async () => {
    await seeded();
    const entry = join(test.dataDir, 'hangs.mjs');
    const started = join(test.dataDir, 'started');
    await writeFile(entry, `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(started)}, ''); for (;;);`);
    const abort = new AbortController();
    const verified = catalogueWith(entry).verify('pocket', abort.signal);
    const refused = expect(verified).rejects.toMatchObject({ cause: { message: 'stopping' } });
    await waitFor('the thread', () => existsSync(started));
    abort.abort(new Error('stopping'));
    await refused;
  });
});

describe('a model by name', () => {
  it('is found by id and by alias; others are model_not_found on the parameter model', async () => {
    await catalogue.seed([{ ...folder.as('org/name'), aliases: ['gpt-local'] }]);
    expect((await catalogue.get('gpt-local')).id).toBe('org/name');
    expect((await catalogue.get('org/name')).id).toBe('org/name');
    expect(await catalogue.find('nope')).toBeNull();
    await expect(catalogue.usable('nope')).rejects.toMatchObject({ code: 'model_not_found', param: 'model' });
  });
});
