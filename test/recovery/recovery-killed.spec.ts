import { afterEach, describe, expect, it } from 'vitest';
import { everyCell, writeLeftovers, type LeftoverCell } from '../../bench/leftovers.mjs';
import { restartOf } from '../support/restart-table.js';
import { ServiceProcess } from '../support/service-process.js';
import { readStoreImage, type StoredTask } from '../support/store-image.js';
import { storedFaults } from '../support/stored-logs.js';
import { temporaryDirectory } from '../support/store.js';
import { waitFor } from '../support/wait-for.js';

const LEFTOVERS = 3000;
const KILLS = 3;
/** Recovery alone: nothing is claimed. */
const ENV = { LMSP_MAX_ROWS: '0', LMSP_MAX_INTERRUPTIONS: '2' };

let service: ServiceProcess | undefined;
afterEach(() => service?.dispose());

/** A directory with the leftovers of a killed service in every cell of 11.3; the cell of each by its id. */
async function leaveBehind(): Promise<{ dataDir: string; cells: Map<string, LeftoverCell> }> {
  const dataDir = await temporaryDirectory();
  service = await ServiceProcess.start({ dataDir, env: ENV });
  const body = { model: 'pocket', input: 'Hello', background: true };
  const form = await service.json<{ id: string }>('POST', '/v1/responses', body);
  await service.json('POST', `/v1/responses/${form.id}/cancel`);
  service.signal('SIGTERM');
  await service.exit();
  await writeLeftovers(dataDir, LEFTOVERS, everyCell);
  const { tasks } = await readStoreImage(dataDir, new Set([form.id.replace('resp_', 'task_')]));
  return { dataDir, cells: new Map([...tasks.keys()].map((id, i) => [id, everyCell(i)])) };
}

/** What recovery has done with the task: nothing yet, or all of it. */
function progressOf(stored: StoredTask, { state, policy, background }: LeftoverCell): 'untouched' | 'moved' | 'torn' {
  const { task, events } = stored;
  const [status, event] = restartOf(state, policy, background);
  const last = events.at(-1)?.type;
  const added = events.slice(EVENTS[state]).map(({ type }) => type);
  const interrupted = background && policy !== 'fail' && (state === 'loading' || state === 'running') ? 1 : 0;
  if (added.length === 0 && task.status === state && task.interruptions === 0) {
    return event === null ? 'moved' : 'untouched';
  }
  const moved = added.length === 1 && last === event && task.status === status && task.owner === null;
  return moved && task.interruptions === interrupted ? 'moved' : 'torn';
}

/** Events that a leftover has (bench/leftovers.mjs). */
const EVENTS = { queued: 2, loading: 3, running: 13, cancelling: 14 };

describe('a recovery that is killed (WIRE B6)', () => {
  it(`R6, C4: ${KILLS} kills during the recovery of ${LEFTOVERS} tasks: each is moved once, with its event, and charged once`, async () => {
    const { dataDir, cells } = await leaveBehind();
    const moved: number[] = [];
    const look = async (): Promise<void> => {
      const { tasks, faults } = await readStoreImage(dataDir);
      expect(faults).toEqual([]);
      const states = [...cells].map(([id, cell]) => progressOf(tasks.get(id)!, cell));
      expect(states.filter((state) => state === 'torn')).toEqual([]);
      expect([...tasks.values()].flatMap(storedFaults)).toEqual([]);
      moved.push(states.filter((state) => state === 'moved').length);
    };
    await look();
    for (let kill = 0; kill < KILLS; kill += 1) {
      service = await ServiceProcess.launch({ dataDir, env: ENV });
      const { url } = await waitFor('the port', () => service?.noted());
      // The first dies in its first page, the others once more of the table has been applied.
      const seen = await waitFor('some progress', async () => (kill === 0 ? 'the port is open' : progress(url)));
      expect(seen).not.toBe('ready');
      await service.kill();
      await look();
    }
    expect(moved.at(-1)).toBeGreaterThan(moved[0]!);
    expect(moved.at(-1), 'killed before the end').toBeLessThan(LEFTOVERS);
    expect(moved).toEqual([...moved].sort((a, b) => a - b));
    service = await ServiceProcess.start({ dataDir, env: ENV });
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);
    await look();
    expect(moved.at(-1)).toBe(LEFTOVERS);
  }, 240_000);
});

/** What /ready says once recovery has looked at some tasks, and that nothing else is answered meanwhile; null before. */
async function progress(url: string): Promise<string | null> {
  const { status, reason } = (await (await fetch(`${url}/ready`)).json()) as { status: string; reason?: string };
  if (status === 'ready') return 'ready';
  const [, done] = /^recovering (\d+) of \d+$/.exec(reason ?? '') ?? [];
  return Number(done) > 0 ? (reason ?? null) : null;
}
