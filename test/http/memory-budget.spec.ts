import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ProcessEngine } from '../../src/inference/index.js';
import { distEntry } from '../support/dist-entry.js';
import { HeldEncoders } from '../support/held-encoders.js';
import { HttpApp } from '../support/http-app.js';
import { temporaryDirectory } from '../support/store.js';
import { waitFor } from '../support/wait-for.js';

/** Room for either of the embedded models, not for both. */
const EITHER = '150000000';

let http: HttpApp;
afterEach(() => http.close());

/** Notices about models, in order, as `name model` with the reason of an unload. */
function watch(): string[] {
  const seen: string[] = [];
  http.notices.on('model.unloaded', ({ model, reason }) => void seen.push(`unloaded ${model} ${reason}`));
  http.notices.on('runner.lost', ({ model }) => void seen.push(`lost ${model}`));
  return seen;
}

describe('three clients on two models that do not fit together (chapter 11: the budget)', () => {
  it('are all served: processes take turns, and none is ended with work on it', async () => {
    const dataDir = await temporaryDirectory();
    const otherEngine = new ProcessEngine({
      entry: distEntry('inference/onnx/runner-main.js'),
      runnersDirectory: join(dataDir, 'runners'),
      stallSeconds: 60,
      maxWaiting: 8,
    });
    const env = { LMSP_MODEL_MEMORY_BYTES: EITHER, LMSP_MODEL_TURN_SECONDS: '0', LMSP_MAX_ROWS: '2' };
    http = await HttpApp.start({ otherEngine, dataDir, env });
    const seen = watch();
    const background = async (): Promise<string[]> => {
      const accepted = await Promise.all(Array.from({ length: 4 }, () => http.accept({ max_output_tokens: 16 })));
      const ended = accepted.map(({ lmsp }) => http.task(lmsp.task_id, 'completed', 'failed', 'cancelled'));
      return (await Promise.all(ended)).map(({ status }) => status as string);
    };
    const embedding = async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (let i = 0; i < 3; i += 1) {
        const { status } = await http.call('POST', '/v1/embeddings', { model: 'pocket-embed', input: `text ${i}` });
        statuses.push(status);
      }
      return statuses;
    };
    const foreground = async (): Promise<number[]> => {
      const answers = [
        await http.create({ store: false, max_output_tokens: 8 }),
        await http.create({ max_output_tokens: 8 }),
      ];
      return answers.map(({ status }) => status);
    };
    const [tasks, embedded, answered] = await Promise.all([background(), embedding(), foreground()]);
    expect(tasks).toEqual(Array(4).fill('completed'));
    expect([...embedded, ...answered]).toEqual(Array(5).fill(200));
    expect(seen.filter((line) => line.startsWith('lost'))).toEqual([]);
    expect(seen.filter((line) => line.endsWith('budget')).length).toBeGreaterThan(0);
    expect(http.faults).toEqual([]);
  }, 120_000);
});

describe('a task whose model waits for memory', () => {
  it('stays queued and says so, with its place, until the other model is idle; the service tells its budget', async () => {
    const encoders = new HeldEncoders(100_000_000);
    const env = { LMSP_MODEL_MEMORY_BYTES: EITHER, LMSP_MODEL_TURN_SECONDS: '0' };
    http = await HttpApp.start({ encoders, env });
    const seen = watch();
    const embedding = http.call('POST', '/v1/embeddings', { model: 'pocket-embed', input: 'a' });
    await waitFor('the encoder to be busy', () => encoders.requests.length === 1);
    const [first, second] = [await http.accept(), await http.accept()];
    const waiting = await waitFor('the task to wait', async () => {
      const { body } = await http.call('GET', `/v1/tasks/${second.lmsp.task_id}`);
      return body.progress.phase === 'waiting_for_memory' ? body : null;
    });
    expect(waiting).toMatchObject({ status: 'queued', queue_position: 1, progress: { load_fraction: null } });
    expect((await http.call('GET', '/v1/models/pocket-embed')).body.lmsp).toMatchObject({
      state: 'loaded',
      memory_bytes: expect.any(Number),
      unloads_at: null,
    });
    encoders.requests[0]!.finish();
    expect((await embedding).status).toBe(200);
    for (const { lmsp } of [first, second]) await http.task(lmsp.task_id, 'completed');
    expect(seen).toEqual(['unloaded pocket-embed budget']);
    expect((await http.call('GET', '/v1/service')).body.limits).toMatchObject({
      model_memory_bytes: Number(EITHER),
      keep_alive_seconds: 300,
      model_turn_seconds: 0,
    });
  });
});

describe('a model that can never be loaded (WIRE B4 row 5)', () => {
  it('is 503 insufficient_resources for a load and a request, and fails its task with the numbers', async () => {
    http = await HttpApp.start({ env: { LMSP_MODEL_MEMORY_BYTES: '50000000' } });
    for (const { status, body, headers } of [
      await http.call('POST', '/v1/models/load', { model: 'pocket' }),
      await http.create({ store: false }),
      await http.create(),
      await http.call('POST', '/v1/embeddings', { model: 'pocket-embed', input: 'a' }),
    ]) {
      expect([status, body.error.code]).toEqual([503, 'insufficient_resources']);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      expect(body.error.message).toContain('50000000');
    }
    const { lmsp } = await http.accept();
    const { error } = await http.task(lmsp.task_id, 'failed');
    expect(error.code).toBe('insufficient_resources');
  });
});

describe('keep_alive_seconds of a request (WIRE B3)', () => {
  it.each([
    ['a response', () => http.create({ store: false, keep_alive_seconds: 0 })],
    ['a stored response', () => http.create({ keep_alive_seconds: 0 })],
    ['a chat', () => http.call('POST', '/v1/chat/completions', chat)],
  ])('of 0 in %s unloads the model as soon as it is idle', async (_, send) => {
    http = await HttpApp.start();
    const seen = watch();
    expect((await send()).status).toBe(200);
    await waitFor('the model to go', () => seen.length > 0);
    expect(seen).toEqual(['unloaded pocket idle']);
    const { state, last_used_at: used } = (await http.call('GET', '/v1/models/pocket')).body.lmsp;
    expect([state, typeof used]).toEqual(['available', 'number']);
  });

  const chat = { model: 'pocket', messages: [{ role: 'user', content: 'Hello' }], keep_alive_seconds: 0 };
});
