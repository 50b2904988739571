import { afterEach, describe, expect, it } from 'vitest';
import type { GenerationRequest } from '../../src/inference/index.js';
import { FakeEngine, type Piece } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
afterEach(() => http.close());

const POISON = 666;
const WORDS = 600;

/** Words that tell the request; whatever names the poisonous seed kills the process that works on it. */
function wordsOf({ seed }: Pick<GenerationRequest, 'seed'>): string[] {
  return Array.from({ length: WORDS }, (_, i) => `${seed}.${i % 50} `);
}

const engine: FakeEngine = new FakeEngine({
  stepDelayMs: 1,
  tokens: (request): Iterable<Piece> => {
    if (request.seed === POISON) engine.killAll();
    return wordsOf(request);
  },
});

async function textOf(id: string): Promise<string> {
  const { body } = await http.call('GET', `/v1/responses/${id}`);
  expect(body.status).toBe('completed');
  return body.output[0].content[0].text as string;
}

describe('a model process that dies while the service lives (WIRE B4 row 15, B6)', () => {
  it.each(['resume', 'retry'])(
    'one poisonous request, three times in a row, fails itself alone; the model stays in service (policy %s)',
    async (onRestart) => {
      http = await HttpApp.start({ engine });
      const good = await Promise.all(
        [1, 2, 3, 4, 5, 6].map((seed) => http.accept({ seed, temperature: 0.5, on_restart: onRestart })),
      );
      await waitFor('some words', async () => {
        const { body } = await http.call('GET', `/v1/tasks/${good[5]?.lmsp.task_id}`);
        return body.progress?.output_tokens > 2;
      });
      const bad = await http.accept({ seed: POISON, on_restart: onRestart });
      const failed = await http.task(bad.lmsp.task_id, 'failed', 'completed');
      expect(failed).toMatchObject({ status: 'failed', error: { code: 'model_error' } });
      for (const [i, { id, lmsp }] of good.entries()) {
        const task = await http.task(lmsp.task_id, 'completed', 'failed');
        expect(task).toMatchObject({ status: 'completed', interruptions: 0 });
        expect(await textOf(id)).toBe(wordsOf({ seed: i + 1 }).join(''));
      }
      expect((await http.create({ seed: 9 })).body.status, 'the model stays in service').toBe('completed');
    },
  );

  it('30 losses under 8 rows, each after a new step, some rows being cancelled: every task ends rightly, with equal text', async () => {
    http = await HttpApp.start({ engine });
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
    const accepted = await Promise.all(
      seeds.map((seed) => http.accept({ seed, temperature: 0.5, on_restart: 'resume' })),
    );
    const steps = async (): Promise<number> => {
      const [row] = await http.store.reader.query<{ n: number }>('select count(*) as n from task_snapshots');
      return row?.n ?? 0;
    };
    const owned = async (): Promise<number> => {
      const [row] = await http.store.reader.query<{ n: number }>(
        'select count(*) as n from tasks where owner is not null',
      );
      return row?.n ?? 0;
    };
    const cancelled = new Set<number>();
    let last = 0;
    for (let loss = 0; loss < 30; loss += 1) {
      // A commit of new steps, in a process that is there to be killed.
      await waitFor('a new step', async () => engine.models.length > 0 && (await steps()) > last, 30_000);
      if (loss === 10 || loss === 20) {
        cancelled.add(loss / 10);
        void http.call('POST', `/v1/tasks/${accepted[loss / 10]?.lmsp.task_id}/cancel`);
      }
      engine.killAll();
      // The steps that were on their way are written with the loss; another process comes after a moment only.
      await waitFor('the loss', async () => (await owned()) === 0);
      last = await steps();
    }
    for (const [i, { id, lmsp }] of accepted.entries()) {
      const task = await http.task(lmsp.task_id, 'completed', 'failed', 'cancelled');
      if (cancelled.has(i)) expect(['cancelled', 'completed']).toContain(task.status);
      else expect(task.status).toBe('completed');
      if (task.status === 'completed') expect(await textOf(id)).toBe(wordsOf({ seed: i + 1 }).join(''));
    }
    expect(http.faults).toEqual([]);
  }, 120_000);

  it('three losses of an idle process quarantine the model: 503, also after a restart, until it is loaded by hand', async () => {
    http = await HttpApp.start({ engine });
    const quarantined: string[] = [];
    http.notices.on('model.quarantined', ({ model }) => void quarantined.push(model));
    for (let loss = 0; loss < 3; loss += 1) {
      await http.call('POST', '/v1/models/load', { model: 'pocket' });
      if (loss < 2) {
        engine.killAll();
        await waitFor('the loss', () => engine.models.length === 0);
      }
    }
    expect(quarantined, 'a load by hand begins the count anew').toEqual([]);
    for (let loss = 0; loss < 3; loss += 1) {
      engine.killAll();
      await waitFor('the loss', () => engine.models.length === 0);
      if (loss === 2) break;
      // What is foreground loads it again, and leaves nothing to blame.
      engine.hold('runs');
      const waiting = [http.create({ store: false }), http.create({ store: false })];
      await waitFor('two rows', () => engine.models.length > 0);
      engine.killAll();
      await Promise.all(waiting);
      engine.release('runs');
    }
    await waitFor('quarantine', () => quarantined.length > 0);
    const refused = await http.create();
    expect([refused.status, refused.body.error.code]).toEqual([503, 'model_unavailable']);
    const { dataDir } = http;
    await http.stop();
    const next = await HttpApp.start({ engine, dataDir });
    expect((await next.create()).status).toBe(503);
    await next.call('POST', '/v1/models/load', { model: 'pocket' });
    expect((await next.create()).status).toBe(200);
    await next.close();
  });
});
