import { existsSync } from 'node:fs';
import { open, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { PlainConnection } from '../../src/database/plain-connection.js';
import { ServiceProcess, type ServiceOptions } from '../support/service-process.js';
import { openTestStore, temporaryDirectory } from '../support/store.js';
import { tlsFixture } from '../support/tls-fixture.js';

const launched: ServiceProcess[] = [];
afterEach(async () => {
  for (const service of launched.splice(0)) await service.dispose();
});

async function launch(options: ServiceOptions): Promise<ServiceProcess> {
  const service = await ServiceProcess.launch(options);
  launched.push(service);
  return service;
}

async function newerSchema(file: string): Promise<void> {
  const connection = await PlainConnection.open(file, sqlite3.OPEN_READWRITE);
  await connection.rows(`INSERT INTO migrations (timestamp, name) VALUES (1, 'AddLater9999999999999')`);
  await connection.close();
}

async function cutShort(file: string): Promise<void> {
  const { size } = await stat(file);
  await truncate(file, size - 8192);
}

/** The page in which the clients are looked up: whole-file checks are not made at every start. */
async function damagedPage(file: string): Promise<void> {
  const connection = await PlainConnection.open(file, sqlite3.OPEN_READONLY);
  const [table] = await connection.rows<{ rootpage: number }>(
    `SELECT rootpage FROM sqlite_schema WHERE name = 'clients'`,
  );
  await connection.close();
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(4096, 0xff), 0, 4096, (table!.rootpage - 1) * 4096);
  await handle.close();
}

describe('a start that cannot be (OPERATE 1.2)', { timeout: 120_000 }, () => {
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

  it.each([
    ['an address beyond loopback without TLS', { LMSP_HOST: '0.0.0.0' }, 'LMSP_ALLOW_INSECURE_LAN=true'],
    [
      'a certificate that is not there',
      { LMSP_TLS_CERT_FILE: '/nowhere.crt', LMSP_TLS_KEY_FILE: '/nowhere.key' },
      'ENOENT',
    ],
    [
      "another certificate's key",
      { LMSP_TLS_CERT_FILE: tlsFixture('one.crt'), LMSP_TLS_KEY_FILE: tlsFixture('two.key') },
      'LMSP_TLS_KEY_FILE',
    ],
    [
      'an extension that is not there',
      { LMSP_EXTENSIONS: './nowhere.mjs' },
      'extension ./nowhere.mjs cannot be loaded',
    ],
  ])('%s ends with 78 and one line, before the port is open', async (_, env, reason) => {
    const service = await launch({ env });
    expect(await service.exit()).toBe(78);
    expect(service.output.trim().split('\n')).toEqual([expect.stringContaining(reason)]);
    expect(await service.noted()).toBeNull();
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

  it.each([
    ['was written by a newer program', newerSchema, /newer program.*AddLater/],
    ['was cut short', cutShort, /damaged|cannot be read/],
    ['has a damaged page in the middle', damagedPage, /damaged/],
  ])('a store that %s ends with 65 and one line, and is left alone', async (_, spoil, reason) => {
    const { store, dataDir } = await openTestStore();
    const { file } = store;
    await store.close();
    await spoil(file);
    const before = await readFile(file);
    const service = await launch({ dataDir });
    expect(await service.exit()).toBe(65);
    const lines = service.output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(lines).toEqual([expect.stringMatching(reason)]);
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it.runIf(existsSync('/proc/self'))('a data directory that cannot be made ends with 1 and names it', async () => {
    const service = await launch({ env: { LMSP_DATA_DIR: '/proc/lmsp/data' } });
    expect(await service.exit()).toBe(1);
    expect(service.output.trim().split('\n')).toEqual([expect.stringContaining('/proc/lmsp')]);
  });

  it('a port that is taken ends with 1 and says so', async () => {
    const first = await ServiceProcess.start();
    launched.push(first);
    const second = await launch({ env: { LMSP_PORT: new URL(first.url).port } });
    expect(await second.exit()).toBe(1);
    expect(second.output).toContain('EADDRINUSE');
  });
});
