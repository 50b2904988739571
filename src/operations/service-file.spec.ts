import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeServiceFile, writeServiceFile, type ServiceFile } from './service-file.js';

const content: ServiceFile = {
  url: 'http://127.0.0.1:5677',
  pid: 4711,
  instance_id: 'one',
  version: '0.1.0',
  started_at: 1_796_000_000,
};

describe('service.json (OPERATE 1.2)', () => {
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'lmsp-service-file-'));
  });

  afterEach(() => rm(dataDir, { recursive: true }));

  it('tells where the service is, to its owner only, and leaves no other file', async () => {
    await writeServiceFile(dataDir, content);
    const path = join(dataDir, 'service.json');
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(content);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(dataDir)).toEqual(['service.json']);
  });

  it('replaces what a crash left, a half-written file of the same process id included', async () => {
    await writeFile(join(dataDir, 'service.json'), '{"url":"stale"}');
    await writeFile(join(dataDir, 'service.json.4711'), '{"ur');
    await writeServiceFile(dataDir, content);
    expect(JSON.parse(await readFile(join(dataDir, 'service.json'), 'utf8'))).toEqual(content);
    expect(await readdir(dataDir)).toEqual(['service.json']);
  });

  it('is gone after a clean stop, also where it was gone before', async () => {
    await writeServiceFile(dataDir, content);
    await removeServiceFile(dataDir);
    await removeServiceFile(dataDir);
    expect(await readdir(dataDir)).toEqual([]);
  });
});
