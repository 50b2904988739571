import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ServiceProcess, type ServiceOptions } from '../support/service-process.js';
import { temporaryDirectory } from '../support/store.js';

const launched: ServiceProcess[] = [];
afterEach(async () => {
  for (const service of launched.splice(0)) await service.dispose();
});

async function launch(options: ServiceOptions): Promise<ServiceProcess> {
  const service = await ServiceProcess.launch(options);
  launched.push(service);
  return service;
}

describe('a start that cannot be (OPERATE 1.2)', () => {
  it('a second process on the same data directory ends with 75 and one clear line (HOUSE 4.10)', async () => {
    const first = await ServiceProcess.start();
    launched.push(first);
    const second = await launch({ dataDir: first.dataDir });
    expect(await second.exit()).toBe(75);
    expect(second.output.trim().split('\n')).toHaveLength(1);
    expect(second.output).toContain('in use');
    expect((await first.request('GET', '/health')).status).toBe(200);
  });

  it('a wrong configuration ends with 78 and names every problem', async () => {
    const service = await launch({ env: { LMSP_PORT: '70000', LMSP_MAX_ROW: '8', LMSP_LOG_LEVEL: 'loud' } });
    expect(await service.exit()).toBe(78);
    for (const part of ['LMSP_PORT', 'LMSP_MAX_ROW', 'LMSP_MAX_ROWS', 'LMSP_LOG_LEVEL']) {
      expect(service.output).toContain(part);
    }
  });

  it('a file that is no store of ours ends with 65 and is left alone', async () => {
    const dataDir = await temporaryDirectory();
    await writeFile(
      join(dataDir, 'lmsp.sqlite'),
      'this is not a database, and it is nobody’s to overwrite\n'.repeat(50),
    );
    const service = await launch({ dataDir });
    expect(await service.exit()).toBe(65);
    expect(service.output.trim().split('\n')).toHaveLength(1);
    expect(service.output).toContain('lmsp.sqlite');
  });

  it('a port that is taken ends with 1 and says so', async () => {
    const first = await ServiceProcess.start();
    launched.push(first);
    const second = await launch({ env: { LMSP_PORT: new URL(first.url).port } });
    expect(await second.exit()).toBe(1);
    expect(second.output).toContain('EADDRINUSE');
  });
});
