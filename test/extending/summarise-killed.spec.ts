import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import { readStoreImage } from '../../src/testing/store-image.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { ServiceProcess } from '../support/service-process.js';
import { temporaryDirectory } from '../support/store.js';

const TEXT = 'Tell me a long story.\n\nCount from one to twenty.\n\nTell me a story.';
/** Three parts and the sum of them. */
const STEPS = 4;

interface TaskBody {
  id: string;
  status: string;
  result: unknown;
  attempt: number;
}

let service: ServiceProcess | null = null;

afterEach(() => service?.dispose());

it('summarise.document, killed with SIGKILL in each of its steps, ends as one that was not; no step on disk is done again', async () => {
  const dataDir = await temporaryDirectory();
  const ledger = join(dataDir, 'ledger');
  const env = {
    LMSP_EXTENSIONS: join(packageRoot(), 'dist/examples/summarise-extension/src/index.js'),
    LMSP_EXT_SUMMARISE_LEDGER_FILE: ledger,
    // Each kill interrupts a step that had begun.
    LMSP_MAX_INTERRUPTIONS: '10',
  };
  const start = async (): Promise<ServiceProcess> => (service = await ServiceProcess.start({ env, dataDir }));
  const keysOf = async (task: string): Promise<string[]> => {
    const lines = await readFile(ledger, 'utf8').catch(() => '');
    return lines.split('\n').filter((key) => key.startsWith(task));
  };
  const begin = async (process: ServiceProcess): Promise<string> => {
    const fields = { type: 'summarise.document', input: { text: TEXT } };
    return (await process.json<TaskBody>('POST', '/v1/tasks', fields)).id;
  };
  const ended = (process: ServiceProcess, id: string): Promise<TaskBody> =>
    waitFor('the end of the task', async () => {
      const task = await process.json<TaskBody>('GET', `/v1/tasks/${id}`);
      return ['completed', 'failed', 'cancelled'].includes(task.status) ? task : null;
    });

  let running = await start();
  const whole = await ended(running, await begin(running));
  const cut = await begin(running);
  const killed: { key: string; committed: number }[] = [];
  for (let step = 1; step <= STEPS; step += 1) {
    await waitFor(`step ${step}`, async () => new Set(await keysOf(cut)).size === step);
    await running.kill();
    killed.push({ key: (await keysOf(cut)).at(-1) ?? '', committed: await cursorOf(dataDir, cut) });
    running = await start();
  }
  const resumed = await ended(running, cut);

  expect(whole.status).toBe('completed');
  expect([resumed.status, resumed.result]).toEqual([whole.status, whole.result]);
  const keys = await keysOf(cut);
  const steps = [...new Set(keys)];
  expect(steps).toHaveLength(STEPS);
  // The keys in the order of the steps: none of an earlier step follows one of a later.
  expect(keys.map((key) => steps.indexOf(key))).toEqual(keys.map((key) => steps.indexOf(key)).sort());
  for (const { key, committed } of killed) {
    // Behind the kill only steps were done that were not on disk, and the one in progress under its key again.
    const again = keys.filter((each) => each === key).length;
    expect(again).toBe(steps.indexOf(key) < committed ? 1 : 2);
  }
}, 120_000);

/** Steps whose cursor is on disk. */
async function cursorOf(dataDir: string, taskId: string): Promise<number> {
  const { tasks } = await readStoreImage(dataDir);
  const last = tasks.get(taskId)?.snapshots.at(-1)?.lines.at(-1);
  return last === undefined ? 0 : (JSON.parse(last) as string[]).length;
}
