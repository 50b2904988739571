import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TaskRecorders } from '../../src/tasks/index.js';
import { HttpApp } from '../support/http-app.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ env: { LMSP_UNIT_TIMEOUT_SECONDS: '1' } });
  await http.store.units.run((tx) => tx.execute('CREATE TABLE notes (task_id, command)'));
  http.app.get(TaskRecorders, { strict: false }).register('the test', {
    record: async (tx, { command, task }) => {
      await tx.execute('INSERT INTO notes VALUES (?, ?)', [task.id, command]);
      if (task.metadata.unrecorded === command) throw new Error('not recorded');
      if (task.metadata.hangs === command) await new Promise<never>(() => undefined);
    },
  });
});
afterAll(() => http.close());

const notes = async (taskId: string): Promise<string[]> =>
  (
    await http.store.reader.query<{ command: string }>('select command from notes where task_id = ? order by rowid', [
      taskId,
    ])
  ).map(({ command }) => command);

describe('a recorder that fails (HOUSE 3.5)', () => {
  it('at one of many creates that share a commit has that one refused, and each of the others is on disk', async () => {
    const creates = Array.from({ length: 12 }, (_, i) =>
      http.create({ background: true, metadata: i === 5 ? { unrecorded: 'enqueue' } : {} }),
    );
    const answers = await Promise.all(creates);
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i === 5 ? 500 : 202)));
    expect(answers[5]!.body.error).toMatchObject({ code: 'server_error', type: 'server_error' });
    for (const { body } of answers.filter((_, i) => i !== 5)) {
      await http.task(body.lmsp.task_id, 'completed');
      const noted = await notes(body.lmsp.task_id);
      expect([noted[0], noted.at(-1)]).toEqual(['enqueue', 'complete']);
    }
    expect(await http.store.reader.query(`select 1 from tasks`)).toHaveLength(11);
  });

  it('by not coming back counts as having failed when the unit has run out of time, once', async () => {
    const { lmsp } = await http.accept({ metadata: { hangs: 'start' } });
    const task = await http.task(lmsp.task_id, 'failed');
    expect(task.error).toMatchObject({ code: 'recorder_failed', type: 'server_error' });
    expect(await notes(lmsp.task_id)).toEqual(['enqueue', 'failQueued']);
    const { body } = await http.create();
    expect(body.status).toBe('completed');
  });

  it('is told in the metrics', async () => {
    const metrics = await (await http.fetch('GET', '/metrics')).text();
    expect(metrics).toMatch(/^lmsp_recorder_failures_total\{outcome="refused"\} 1$/m);
    expect(metrics).toMatch(/^lmsp_recorder_failures_total\{outcome="replaced"\} 1$/m);
  });
});
