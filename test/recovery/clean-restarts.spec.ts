import { afterEach, expect, it } from 'vitest';
import { LONG_SEEDS, LONG_STORY, shownTask, untilAllEnded } from '../support/held-tasks.js';
import { ServiceProcess } from '../support/service-process.js';
import { readStoreImage } from '../support/store-image.js';
import { openStoredLogs } from '../support/stored-logs.js';
import { temporaryDirectory } from '../support/store.js';
import { waitFor } from '../support/wait-for.js';

const STOPS = 3;
/** A single interruption would be the end of a task. */
const ENV = { LMSP_MAX_ROWS: '4', LMSP_THREADS: '1', LMSP_MAX_INTERRUPTIONS: '1' };

let service: ServiceProcess | undefined;
afterEach(() => service?.dispose());

/** Two tasks of each policy that lets them go on run at the same time, two more wait. */
async function createTasks(running: ServiceProcess): Promise<string[]> {
  const ids: string[] = [];
  for (const onRestart of ['retry', 'resume', 'retry', 'resume', 'retry', 'resume']) {
    const body = { ...LONG_STORY, seed: LONG_SEEDS[ids.length % 3], background: true, on_restart: onRestart };
    const { id } = await running.json<{ id: string }>('POST', '/v1/responses', { ...body, max_output_tokens: 600 });
    ids.push(id.replace('resp_', 'task_'));
  }
  return ids;
}

it(`WIRE B6: ${STOPS} clean stops in the middle of the work cost no task an interruption, and all complete`, async () => {
  const dataDir = await temporaryDirectory();
  let ids: string[] = [];
  for (let stop = 0; stop < STOPS; stop += 1) {
    service = await ServiceProcess.start({ dataDir, env: ENV });
    if (stop === 0) ids = await createTasks(service);
    const before = await readStoreImage(dataDir);
    for (const id of ids.slice(0, 4)) {
      const known = before.tasks.get(id)?.task.lastSequenceNumber ?? 0;
      await waitFor(`${id} to get on`, async () => {
        const { status, last_sequence_number: last } = await shownTask(service!, id);
        return status === 'running' && last > known + 8;
      });
    }
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);
    const { tasks } = await readStoreImage(dataDir);
    for (const id of ids) {
      const { task, events } = tasks.get(id)!;
      expect({ status: task.status, owner: task.owner, interruptions: task.interruptions }).toEqual({
        status: ids.indexOf(id) < 4 ? 'running' : 'queued',
        owner: null,
        interruptions: 0,
      });
      const begunAnew = events.filter(({ type }) => type === 'response.queued').length - 1;
      expect(begunAnew, `${task.onRestart} after ${stop} restarts`).toBe(
        task.onRestart === 'retry' && task.status === 'running' ? stop : 0,
      );
    }
  }
  service = await ServiceProcess.start({ dataDir, env: ENV });
  await untilAllEnded(service);
  service.signal('SIGTERM');
  expect(await service.exit()).toBe(0);
  const { tasks, faults } = await openStoredLogs(dataDir);
  expect(faults).toEqual([]);
  expect(tasks.map(({ status, interruptions }) => ({ status, interruptions }))).toEqual(
    ids.map(() => ({ status: 'completed', interruptions: 0 })),
  );
}, 180_000);
