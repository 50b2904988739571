import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { LONG_STORY, untilAllEnded } from '../support/held-tasks.js';
import { ServiceProcess } from '../support/service-process.js';
import { readStoreImage } from '../support/store-image.js';
import { openStoredLogs } from '../support/stored-logs.js';
import { temporaryDirectory } from '../support/store.js';

/** Kills; `ROUNDS=200 npx vitest run test/recovery/kill-at-accept.spec.ts` for more. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 20);
/** Creates on their way at the same time: they share commits, and some are answered while others wait. */
const CREATES = 6;

let service: ServiceProcess | undefined;
afterEach(() => service?.dispose());

interface Killed {
  /** Ids of tasks whose 202 a client has received. */
  accepted: string[];
  /** Creates that got no answer. */
  unanswered: number;
}

/** Sends creates at once and kills the service in the turn in which the first byte of a 202 is read. */
async function killAtAccept(running: ServiceProcess, round: number): Promise<Killed> {
  const accepted: string[] = [];
  const kills: Promise<void>[] = [];
  const create = (i: number): Promise<boolean> =>
    new Promise((resolve) => {
      const body = JSON.stringify({
        ...LONG_STORY,
        background: true,
        on_restart: 'retry',
        // Mostly short, so that the last start ends in time; a few are killed while they run.
        max_output_tokens: i === 0 && round % 5 === 0 ? 200 : 8,
      });
      const headers = {
        authorization: `Bearer ${running.token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const sent = request(`${running.url}/v1/responses`, { method: 'POST', headers, agent: false }, (response) => {
        if (kills.length === 0) kills.push(running.kill());
        if (response.statusCode === 202) accepted.push(String(response.headers['lmsp-task-id']));
        response.resume();
        response.on('close', () => resolve(true));
        response.on('error', () => resolve(true));
      });
      sent.on('error', () => resolve(false));
      sent.end(body);
    });
  const answered = await Promise.all(Array.from({ length: CREATES }, (_, i) => create(i)));
  await Promise.all(kills);
  return { accepted, unanswered: answered.filter((got) => !got).length };
}

describe('a kill in the moment of acceptance (CASES BL-02)', () => {
  it(
    `R1: every id that a client received in ${ROUNDS} kills at the first byte of a 202 exists, and ends`,
    async () => {
      const dataDir = await temporaryDirectory();
      const accepted: string[] = [];
      let unanswered = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        service = await ServiceProcess.start({ dataDir, env: { LMSP_THREADS: '1', LMSP_MAX_INTERRUPTIONS: '1000' } });
        const killed = await killAtAccept(service, round);
        accepted.push(...killed.accepted);
        unanswered += killed.unanswered;
        const { tasks } = await readStoreImage(dataDir);
        expect(killed.accepted.filter((id) => !tasks.has(id))).toEqual([]);
      }
      expect(accepted.length).toBeGreaterThanOrEqual(ROUNDS);
      expect(new Set(accepted).size).toBe(accepted.length);
      service = await ServiceProcess.start({ dataDir, env: { LMSP_THREADS: '1' } });
      await untilAllEnded(service);
      service.signal('SIGTERM');
      expect(await service.exit()).toBe(0);
      const logs = await openStoredLogs(dataDir);
      expect(logs.faults).toEqual([]);
      const ends = new Map(logs.tasks.map(({ id, status }) => [id, status]));
      expect(accepted.filter((id) => ends.get(id) !== 'completed')).toEqual([]);
      // An answer that was lost may stand for a task that was kept; nothing else is in the store.
      expect(ends.size).toBeGreaterThanOrEqual(accepted.length);
      expect(ends.size).toBeLessThanOrEqual(accepted.length + unanswered);
    },
    60_000 + ROUNDS * 15_000,
  );
});

describe('two services on one data directory (CASES BL-02)', () => {
  it('with 50 queued tasks the second refuses to start in one clear line, and each attempt is begun once', async () => {
    service = await ServiceProcess.start({ env: { LMSP_MAX_ROWS: '0' } });
    const { dataDir } = service;
    for (let i = 0; i < 50; i += 1) {
      await service.json('POST', '/v1/responses', { ...LONG_STORY, background: true, max_output_tokens: 8 });
    }
    const second = await ServiceProcess.launch({ dataDir });
    expect(await second.exit()).toBe(75);
    expect(second.output.trim().split('\n')).toEqual([expect.stringMatching(/in use/)]);
    const { data } = await service.json<{ data: unknown[] }>('GET', '/v1/tasks?status=queued&limit=100');
    expect(data).toHaveLength(50);
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);

    service = await ServiceProcess.start({ dataDir });
    await untilAllEnded(service);
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);
    const image = await readStoreImage(dataDir);
    expect([...image.tasks.values()].map(({ task }) => [task.status, task.attempt])).toEqual(
      Array.from({ length: 50 }, () => ['completed', 1]),
    );
    expect((await openStoredLogs(dataDir)).faults).toEqual([]);
  }, 120_000);
});
