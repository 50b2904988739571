import type { OnRestart } from '../../src/tasks/task-transitions.js';
import type { Unfinished } from './restart-table.js';
import { haltRunners, runnersOf } from './runners.js';
import { registerPocketQ4 } from './second-model.js';
import { ServiceProcess } from './service-process.js';
import { temporaryDirectory } from './store.js';
import { waitFor } from './wait-for.js';

export const POLICIES = ['fail', 'retry', 'resume'] as const satisfies readonly OnRestart[];

export interface HeldTask {
  id: string;
  found: Unfinished;
  onRestart: OnRestart;
}

/** A task as GET /v1/tasks/{id} shows it. */
export interface ShownTask {
  id: string;
  status: string;
  attempt: number;
  interruptions: number;
  last_sequence_number: number;
  error: { type: string; code: string } | null;
}

export interface ShownEvent {
  type: string;
  sequence_number: number;
}

const OPEN = 'queued,loading,running,cancelling';

/** A request whose answer has 600 tokens and more. */
export const LONG_STORY = { model: 'pocket', input: 'Tell me a very long story.', temperature: 1, seed: 19 };
export const LONG_SEEDS = [9, 19, 21];

const ENV = {
  LMSP_THREADS: '1',
  // All that run and all that are being cancelled have a row, and nothing else.
  LMSP_MAX_ROWS: String(2 * POLICIES.length),
  LMSP_CANCEL_WAIT_MS: '0',
  // A halted model process is neither dead nor deaf.
  LMSP_RUNNER_STALL_SECONDS: '3600',
  LMSP_CANCEL_GRACE_SECONDS: '3600',
};

/**
 * A real service with twelve background tasks, one in each cell of 11.3, held there: the model processes are halted,
 * one in the middle of its answers, one in its load. A kill finds them so.
 */
export async function holdTasks(): Promise<{ service: ServiceProcess; tasks: HeldTask[] }> {
  const dataDir = await temporaryDirectory();
  await registerPocketQ4(dataDir);
  const service = await ServiceProcess.start({ dataDir, env: ENV });
  const running = await create(service, 'pocket', 'running');
  const cancelling = await create(service, 'pocket', 'cancelling');
  for (const { id } of [...running, ...cancelling]) {
    await waitFor(`a word of ${id}`, async () => (await shownEvents(service, id)).some(({ type }) => DELTA === type));
  }
  const answering = await haltRunners(dataDir);
  const queued = await create(service, 'pocket', 'queued');
  const loading = await create(service, 'pocket-q4', 'loading');
  const loader = await waitFor('the other model process', async () =>
    (await runnersOf(dataDir)).find((pid) => !answering.includes(pid)),
  );
  process.kill(loader, 'SIGSTOP');
  for (const { id } of cancelling) await service.json('POST', `/v1/tasks/${id}/cancel`);
  const tasks = [...queued, ...loading, ...running, ...cancelling];
  for (const { id, found } of tasks) {
    await waitFor(`${id} to be ${found}`, async () => (await shownTask(service, id)).status === found);
  }
  return { service, tasks };
}

const DELTA = 'response.output_text.delta';

/** One task for each policy, with an answer that is long. */
async function create(service: ServiceProcess, model: string, found: Unfinished): Promise<HeldTask[]> {
  const tasks: HeldTask[] = [];
  for (const [i, onRestart] of POLICIES.entries()) {
    const body = {
      ...LONG_STORY,
      model,
      background: true,
      on_restart: onRestart,
      max_output_tokens: 600,
      seed: LONG_SEEDS[i],
    };
    const { id } = await service.json<{ id: string }>('POST', '/v1/responses', body);
    tasks.push({ id: id.replace('resp_', 'task_'), found, onRestart });
  }
  return tasks;
}

export function shownTask(service: ServiceProcess, id: string): Promise<ShownTask> {
  return service.json('GET', `/v1/tasks/${id}`);
}

export async function shownEvents(service: ServiceProcess, id: string): Promise<ShownEvent[]> {
  const events: ShownEvent[] = [];
  for (let more = true; more;) {
    const path = `/v1/tasks/${id}/events?limit=1000&starting_after=${events.length - 1}`;
    const page = await service.json<{ data: ShownEvent[]; has_more: boolean }>('GET', path);
    events.push(...page.data);
    more = page.has_more;
  }
  return events;
}

/** Resolves when no task is left that has not ended. */
export async function untilAllEnded(service: ServiceProcess): Promise<void> {
  const ended = async (): Promise<boolean> =>
    (await service.json<{ data: unknown[] }>('GET', `/v1/tasks?status=${OPEN}&limit=1`)).data.length === 0;
  await waitFor('all tasks to end', ended, 120_000);
}
