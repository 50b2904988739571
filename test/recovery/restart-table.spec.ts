import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OnRestart } from '../../src/tasks/task-transitions.js';
import {
  holdTasks,
  shownEvents,
  shownTask,
  untilAllEnded,
  type HeldTask,
  type ShownEvent,
  type ShownTask,
} from '../support/held-tasks.js';
import { RESTART_TABLE, type Unfinished } from '../support/restart-table.js';
import { ServiceProcess } from '../support/service-process.js';
import { openStoredLogs } from '../support/stored-logs.js';
import { waitFor } from '../support/wait-for.js';

/** Nothing is claimed and nothing taken up: what is seen is recovery's work alone. */
const PAUSED = { LMSP_MAX_ROWS: '0' };

interface Seen {
  task: ShownTask;
  events: ShownEvent[];
}

let service: ServiceProcess;
let held: HeldTask[];
let before: Map<string, ShownEvent[]>;
/** Statuses that were shown from the moment the port opened to readiness, by task. */
const early = new Map<string, Set<string>>();
let recovered: Map<string, Seen>;

beforeAll(async () => {
  ({ service, tasks: held } = await holdTasks());
  before = new Map();
  for (const { id } of held) before.set(id, await shownEvents(service, id));
  await service.kill();
  const { token, dataDir } = service;
  service = await ServiceProcess.launch({ dataDir, env: PAUSED });
  service.token = token;
  const looking = lookEarly();
  await service.ready();
  await looking;
  recovered = await look();
}, 120_000);
afterAll(() => service.dispose());

/** Asks for every task from the moment the port opens, in turn, until the service is ready. */
async function lookEarly(): Promise<void> {
  const { url } = await waitFor('the port', () => service.noted());
  for (let ready = false; !ready;) {
    ready = (await fetch(`${url}/ready`)).ok;
    for (const { id } of held) {
      const answer = await fetch(`${url}/v1/tasks/${id}`, { headers: { authorization: `Bearer ${service.token}` } });
      const body = (await answer.json()) as { status?: string; error?: { code: string } };
      const seen = early.get(id) ?? new Set();
      early.set(id, seen.add(body.status ?? `${answer.status} ${body.error?.code}`));
    }
  }
}

async function look(): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>();
  for (const { id } of held) {
    seen.set(id, { task: await shownTask(service, id), events: await shownEvents(service, id) });
  }
  return seen;
}

function heldIn(found: Unfinished, onRestart: OnRestart): HeldTask {
  const task = held.find((each) => each.found === found && each.onRestart === onRestart);
  if (!task) throw new Error(`no task ${found} with ${onRestart}`);
  return task;
}

const cells = (Object.keys(RESTART_TABLE) as Unfinished[]).flatMap((found) =>
  (Object.keys(RESTART_TABLE[found]) as OnRestart[]).map((onRestart) => ({ found, onRestart })),
);

describe('kill -9 and a new start of a real service (CASES BL-01)', () => {
  it.each(cells)('C1: $found with on_restart $onRestart becomes what 11.3 says, with its event', (cell) => {
    const { id } = heldIn(cell.found, cell.onRestart);
    const [status, event] = RESTART_TABLE[cell.found][cell.onRestart];
    const { task, events } = recovered.get(id)!;
    const log = before.get(id)!;
    expect(task.status).toBe(status);
    // What was committed between the last look and the kill is in the log as well.
    expect(events.slice(0, log.length)).toEqual(log);
    const added = events.slice(log.length).map(({ type }) => type);
    expect(added.filter((type) => LIFECYCLE.test(type))).toEqual(event === null ? [] : [event]);
    if (event !== null) expect(events.at(-1)?.type).toBe(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
    expect(task.last_sequence_number).toBe(events.length - 1);
  });

  it.each(['queued', 'loading', 'running'] as const)(
    'C2: %s with policy fail carries server_restarted and one response.failed',
    (found) => {
      const { task, events } = recovered.get(heldIn(found, 'fail').id)!;
      expect(task.error).toMatchObject({ type: 'server_error', code: 'server_restarted' });
      expect(events.filter(({ type }) => type === 'response.failed')).toHaveLength(1);
    },
  );

  it('C3: killed between cancelling and cancelled, a task is cancelled with one response.cancelled', () => {
    for (const { id } of held.filter(({ found }) => found === 'cancelling')) {
      const { events } = recovered.get(id)!;
      expect(events.filter(({ type }) => type === 'response.cancelled')).toHaveLength(1);
      expect(events.filter(({ type }) => /completed|incomplete|failed/.test(type))).toEqual([]);
    }
  });

  it('R6: no old state is shown once the port is open: 503 service_recovering until it is the new one', () => {
    expect(early.size).toBe(held.length);
    for (const { id, found, onRestart } of held) {
      const [status] = RESTART_TABLE[found][onRestart];
      expect([...early.get(id)!].filter((seen) => seen !== '503 service_recovering')).toEqual([status]);
    }
  });

  it('R6: looked at again, and after one more kill and start, nothing has been added', async () => {
    expect(await look()).toEqual(recovered);
    await service.kill();
    service = await ServiceProcess.start({ dataDir: service.dataDir, env: PAUSED });
    expect(await look()).toEqual(recovered);
  });

  it('R6: with claiming on, all that were not failed or cancelled complete, and every log is whole', async () => {
    await service.kill();
    service = await ServiceProcess.start({ dataDir: service.dataDir });
    await untilAllEnded(service);
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);
    const { tasks, faults } = await openStoredLogs(service.dataDir);
    expect(faults).toEqual([]);
    for (const { id, status } of tasks) {
      const { found, onRestart } = held.find((task) => task.id === id)!;
      const [recovery] = RESTART_TABLE[found][onRestart];
      expect(status, `${found} ${onRestart}`).toBe(['failed', 'cancelled'].includes(recovery) ? recovery : 'completed');
    }
  }, 180_000);
});

const LIFECYCLE = /^response\.(queued|in_progress|completed|incomplete|failed|cancelled)$/;
