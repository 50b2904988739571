import { afterEach, expect, it } from 'vitest';
import { registerPocketQ4 } from '../support/second-model.js';
import { ServiceProcess } from '../support/service-process.js';
import { temporaryDirectory } from '../support/store.js';

let service: ServiceProcess | undefined;
afterEach(() => service?.dispose());

it('pocket-q4, registered before the start, is loaded and answers', async () => {
  const dataDir = await temporaryDirectory();
  await registerPocketQ4(dataDir);
  service = await ServiceProcess.start({ dataDir });
  const answer = await service.json<{ status: string; output: { content: { text: string }[] }[] }>(
    'POST',
    '/v1/responses',
    { model: 'pocket-q4', input: 'What is 2 + 3?', temperature: 0 },
  );
  expect(answer.status).toBe('completed');
  expect(answer.output[0]?.content[0]?.text).toContain('5');
  const model = await service.json<{ lmsp: { state: string; digest: string } }>('GET', '/v1/models/pocket-q4');
  const embedded = await service.json<{ lmsp: { digest: string } }>('GET', '/v1/models/pocket');
  expect(model.lmsp.state).toBe('loaded');
  expect(model.lmsp.digest).not.toBe(embedded.lmsp.digest);
});
