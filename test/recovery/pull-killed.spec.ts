import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import { FakeHub } from '../support/fake-hub.js';
import { stallAt } from '../support/hub-faults.js';
import { ServiceProcess } from '../support/service-process.js';
import { openStoredLogs } from '../support/stored-logs.js';
import { waitFor } from '../support/wait-for.js';

interface Task {
  id: string;
  status: string;
  attempt: number;
  error: { code: string } | null;
}

const REPOSITORY = 'org/pocket';
const GRAPH = 'onnx/model_q4.onnx';
/** What may come twice, at most: what was on its way when the service died. */
const BLOCK_BYTES = 65_536;

let hub: FakeHub;
let service: ServiceProcess;
beforeEach(async () => {
  hub = await FakeHub.start(REPOSITORY, join(packageRoot(), 'models/pocket'));
});
afterEach(async () => {
  await service.dispose();
  await hub.close();
});

const start = async (dataDir?: string): Promise<void> => {
  const env = { LMSP_HUB_URL: hub.url, LMSP_THREADS: '1', LMSP_HUB_TOKEN: 'hub-secret-of-this-test' };
  service = await ServiceProcess.start({ env, dataDir });
};

/** Resolves once so many bytes of a file that is being fetched are on disk. */
const fetched = (bytes: number): Promise<boolean> =>
  waitFor(`${bytes} bytes on disk`, async () => {
    const pulls = join(service.dataDir, 'pulls');
    const paths = await readdir(pulls, { recursive: true }).catch(() => []);
    const sizes = await Promise.all(
      paths.map((path) =>
        stat(join(pulls, path)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    return sizes.includes(bytes);
  });

const ended = (id: string): Promise<Task> =>
  waitFor(
    'the pull to end',
    async () => {
      const task = await service.json<Task>('GET', `/v1/tasks/${id}`);
      return ['completed', 'failed', 'cancelled'].includes(task.status) ? task : null;
    },
    60_000,
  );

describe('"Pull: kill -9 at 50 %, then again … goes on at its offset and ends with the right digest" (CASES BL-33)', () => {
  it.each([1, 2])(
    'killed %i times, no byte beyond one block comes twice, and the model answers',
    async (kills) => {
      const size = hub.bytes(GRAPH).length;
      await start();
      const { id } = await service.json<Task>('POST', '/v1/models/pull', { repository: REPOSITORY });
      for (let kill = 1; kill <= kills; kill++) {
        const place = Math.floor((size * kill) / (kills + 1));
        if (kill === 1) hub.fault(GRAPH, stallAt(place));
        await fetched(place);
        await service.kill();
        const next = Math.floor((size * (kill + 1)) / (kills + 1));
        if (kill < kills) hub.fault(GRAPH, stallAt(next));
        await start(service.dataDir);
      }
      const task = await ended(id);
      expect([task.status, task.error, task.attempt]).toEqual(['completed', null, kills + 1]);
      for (const [path, served] of hub.served) {
        expect(served - hub.bytes(path).length, path).toBeLessThanOrEqual(BLOCK_BYTES);
      }
      expect(hub.served.get(GRAPH)).toBe(size);
      expect(hub.requests.filter(({ path }) => path.includes('/revision/'))).toHaveLength(1);
      const response = await service.json<{ status: string; usage: { output_tokens: number } }>(
        'POST',
        '/v1/responses',
        {
          model: REPOSITORY,
          input: 'Tell me about a bear.',
          max_output_tokens: 8,
        },
      );
      expect(['completed', 'incomplete']).toContain(response.status);
      expect(response.usage.output_tokens).toBeGreaterThan(0);
      expect(await readdir(join(service.dataDir, 'pulls'))).toEqual([]);
      expect(service.output).not.toContain('hub-secret-of-this-test');
      await service.kill();
      expect((await openStoredLogs(service.dataDir)).faults).toEqual([]);
    },
    120_000,
  );
});
