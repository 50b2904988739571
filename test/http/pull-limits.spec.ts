import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import { PullTools } from '../../src/pulls/pull-tools.js';
import { FakeHub } from '../support/fake-hub.js';
import { HttpApp, type Answer } from '../support/http-app.js';

const repository = 'org/model';

let hub: FakeHub;
beforeEach(async () => {
  hub = await FakeHub.start(repository, join(packageRoot(), 'models/pocket-embed'));
});
afterEach(() => hub.close());

describe('limits of pulls', () => {
  let small: HttpApp;
  afterEach(() => small.close());
  const start = async (env: Record<string, string>): Promise<Answer> => {
    small = await HttpApp.start({ env: { LMSP_HUB_URL: hub.url, ...env } });
    return small.call('POST', '/v1/models/pull', { repository });
  };

  it('a disk without room is 507 storage_full', async () => {
    const { status, body } = await start({ LMSP_DISK_FLOOR_BYTES: String(2 ** 50) });
    expect([status, body.error.code]).toEqual([507, 'storage_full']);
  });

  it('a repository beyond LMSP_PULL_MAX_BYTES fails before a file is fetched', async () => {
    const { body } = await start({ LMSP_PULL_MAX_BYTES: '1000' });
    expect((await small.task(body.id, 'failed')).error.code).toBe('pull_too_large');
    expect(hub.served.size).toBe(0);
  });

  it('LMSP_PULL_BYTES_PER_SECOND is the limit of all pulls together', async () => {
    await start({ LMSP_PULL_BYTES_PER_SECOND: '100', LMSP_MAX_PULLS: '0' });
    const { bandwidth } = small.app.get(PullTools, { strict: false });
    bandwidth.pauseAfter(10_000);
    expect(bandwidth.pauseAfter(1)).toBeGreaterThan(50_000);
  });

  it('pulls beyond LMSP_MAX_PULLS wait, and beyond LMSP_MAX_WAITING_PULLS are 429', async () => {
    const { body } = await start({ LMSP_MAX_PULLS: '0', LMSP_MAX_WAITING_PULLS: '1' });
    expect((await small.task(body.id, 'queued')).queue_position).toBe(0);
    const more = await small.call('POST', '/v1/models/pull', { repository: 'org/more' });
    expect([more.status, more.body.error.code]).toEqual([429, 'queue_full']);
  });
});
