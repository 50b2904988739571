import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceProcess } from '../support/service-process.js';
import { temporaryDirectory } from '../support/store.js';
import { waitFor } from '../support/wait-for.js';

interface Task {
  status: string;
  interruptions: number;
  max_interruptions: number;
  error: { code: string } | null;
}

describe('work that is cut off again and again (WIRE B6)', () => {
  let service: ServiceProcess;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await temporaryDirectory();
    service = await ServiceProcess.start({ dataDir });
  });
  afterAll(() => service.dispose());

  const task = (id: string): Promise<Task> => service.json<Task>('GET', `/v1/tasks/${id}`);

  it('is given up with retry_limit_exceeded when its interruptions are used up', async () => {
    const body = {
      model: 'pocket',
      input: 'I want a long story about a dog.',
      background: true,
      on_restart: 'retry',
      // Longer than the time a kill takes to come, whatever the machine.
      max_output_tokens: 900,
      logit_bias: { 0: -100, 1: -100, 2: -100 },
    };
    const { lmsp } = await service.json<{ lmsp: { task_id: string } }>('POST', '/v1/responses', body);
    const most = (await task(lmsp.task_id)).max_interruptions;
    for (let kill = 1; kill <= most; kill++) {
      await waitFor('the task to run', async () => (await task(lmsp.task_id)).status === 'running', 60_000);
      await service.kill();
      service = await ServiceProcess.start({ dataDir });
    }
    const ended = await waitFor(
      'its end',
      async () => {
        const found = await task(lmsp.task_id);
        return found.status === 'failed' ? found : null;
      },
      60_000,
    );
    expect(ended).toMatchObject({ interruptions: most, error: { code: 'retry_limit_exceeded' } });
  }, 120_000);
});
