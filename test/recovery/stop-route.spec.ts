import { afterEach, expect, test } from 'vitest';
import { ServiceProcess } from '../support/service-process.js';

let service: ServiceProcess;
afterEach(() => service.dispose());

test('POST /v1/service/stop answers 202 and ends the process as SIGTERM does: exit 0, on record (WIRE B2)', async () => {
  service = await ServiceProcess.start();
  const answer = await service.request('POST', '/v1/service/stop');
  expect(answer.status).toBe(202);
  expect(await answer.json()).toEqual({ object: 'service.stop', status: 'stopping' });
  expect(await service.exit()).toBe(0);
  expect(service.output).toContain('"signal":"request"');
  expect(await service.noted()).toBeNull();
  const { dataDir } = service;
  service = await ServiceProcess.start({ dataDir });
  const { data } = await service.json<{ data: { action: string }[] }>('GET', '/v1/audit?action=service.stop');
  expect(data).toHaveLength(1);
});
