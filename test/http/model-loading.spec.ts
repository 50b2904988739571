import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import type { EngineModel, InferenceEngine, ModelSpec, OpenOptions } from '../../src/inference/index.js';
import { FakeEngine } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';
import { temporaryDirectory } from '../support/store.js';
import { waitFor } from '../support/wait-for.js';

/** An engine whose loads get as far as the test says. */
class SlowEngine implements InferenceEngine {
  readonly name = 'slow';
  tell: (fraction: number) => void = () => undefined;
  isLoading = false;
  private readonly engine = new FakeEngine();

  constructor() {
    this.engine.hold('loads');
  }

  open(spec: ModelSpec, options: OpenOptions = {}): Promise<EngineModel> {
    this.tell = options.progress ?? this.tell;
    this.isLoading = true;
    return this.engine.open(spec, options);
  }

  finish(): void {
    this.engine.release('loads');
  }
}

let http: HttpApp;
afterEach(() => http.close());

describe('a task that waits for a load', () => {
  it('shows a load_fraction that grows with the load and never falls', async () => {
    const engine = new SlowEngine();
    http = await HttpApp.start({ otherEngine: engine });
    const { lmsp } = await http.accept();
    const shown = async (): Promise<number> => {
      const { body } = await http.call('GET', `/v1/tasks/${lmsp.task_id}`);
      expect([body.status, body.progress.phase]).toEqual(['loading', 'loading']);
      return body.progress.load_fraction as number;
    };
    await waitFor('the load', () => engine.isLoading);
    const seen = [await shown()];
    for (const told of [0.2, 0.6, 0.3, 0, 0.9, 7]) {
      engine.tell(told);
      seen.push(await shown());
    }
    expect(seen).toEqual([0.5, 0.6, 0.8, 0.8, 0.8, 0.95, 1]);
    engine.finish();
    await http.task(lmsp.task_id, 'completed');
  });
});

describe('a pinned model', () => {
  it('is loaded soon after the start, and one whose files were still being read then once they are', async () => {
    const dataDir = await temporaryDirectory();
    http = await HttpApp.start({ dataDir });
    const state = async (id: string) => (await http.call('GET', `/v1/models/${id}`)).body.lmsp.state as string;
    for (const id of ['verified', 'unread']) {
      const path = join(dataDir, id);
      await cp(join(packageRoot(), 'models/pocket'), path, { recursive: true });
      const source = { type: 'directory', path };
      expect((await http.call('POST', '/v1/models', { id, type: 'llm', source, pinned: true })).status).toBe(201);
      await waitFor(`${id} to be loaded once it was verified`, async () => (await state(id)) === 'loaded');
    }
    await http.store.units.run((tx) =>
      tx.execute(`UPDATE models SET state = 'verifying', digest = NULL WHERE id = 'unread'`, []),
    );
    await http.stop();
    http = await HttpApp.start({ dataDir });
    for (const id of ['verified', 'unread']) {
      await waitFor(`${id} to be loaded`, async () => (await state(id)) === 'loaded');
    }
    expect(await state('pocket'), 'which is not pinned').toBe('available');
    expect(http.faults).toEqual([]);
  });
});
