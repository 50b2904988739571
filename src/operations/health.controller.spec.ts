import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { loadConfig, type Config } from '../config/index.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';
import { ServiceObstacles } from './service-obstacles.js';

interface Writer {
  oldestWaitMs?: number;
  lastFault?: string | null;
}

/** The controller over a writer whose oldest unit is so old; answers are [status, body]. */
function probes({ oldestWaitMs = 0, lastFault = null, ...settings }: Writer & Partial<Config> = {}) {
  const readiness = new Readiness();
  readiness.ready();
  const config = { ...loadConfig({ LMSP_DATA_DIR: tmpdir(), LMSP_DISK_FLOOR_BYTES: '0' }), ...settings };
  const units = { oldestWaitMs: () => oldestWaitMs, lastFault } as never;
  const controller = new HealthController(units, new ServiceObstacles(config, readiness, units));
  const ask = async (route: 'health' | 'ready'): Promise<[number, unknown]> => {
    let status = 200;
    const body = await controller[route]({ status: (code: number) => (status = code) } as never);
    return [status, body];
  };
  return { ask, readiness };
}

describe('/health (WIRE B2)', () => {
  it('is ok while idle and while units wait up to 30 s', async () => {
    expect(await probes().ask('health')).toEqual([200, { status: 'ok' }]);
    expect(await probes({ oldestWaitMs: 30_000 }).ask('health')).toEqual([200, { status: 'ok' }]);
  });

  it('is 503 with the reason once a unit has waited longer', async () => {
    const stuck = { status: 'stuck', reason: 'a unit of work has waited 31 s' };
    expect(await probes({ oldestWaitMs: 31_000 }).ask('health')).toEqual([503, stuck]);
  });

  it('is ok while recovering and stopping: neither is cured by a restart', async () => {
    const { ask, readiness } = probes();
    readiness.recovering(0, 1);
    expect(await ask('health')).toEqual([200, { status: 'ok' }]);
    readiness.stopping();
    expect(await ask('health')).toEqual([200, { status: 'ok' }]);
  });
});

describe('/ready (WIRE B2)', () => {
  it('is 200 when nothing stands in the way', async () => {
    expect(await probes().ask('ready')).toEqual([200, { status: 'ready' }]);
  });

  it('is 503 with the progress of recovery', async () => {
    const { ask, readiness } = probes();
    readiness.recovering(412, 900);
    expect(await ask('ready')).toEqual([503, { status: 'not_ready', reason: 'recovering 412 of 900' }]);
  });

  it('is 503 while the last commit found a full or a locked disk', async () => {
    for (const lastFault of ['full', 'busy']) {
      const refused = { status: 'not_ready', reason: `storage_${lastFault}` };
      expect(await probes({ lastFault }).ask('ready')).toEqual([503, refused]);
    }
  });

  it('is 503 when the disk is below its floor, and when it cannot be asked', async () => {
    const low = { status: 'not_ready', reason: 'disk_low' };
    expect(await probes({ diskFloorBytes: Number.MAX_SAFE_INTEGER }).ask('ready')).toEqual([503, low]);
    const gone = { status: 'not_ready', reason: 'data_directory_unreachable' };
    expect(await probes({ dataDir: '/no/such/folder' }).ask('ready')).toEqual([503, gone]);
  });
});
