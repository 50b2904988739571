import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { afterEach, expect, test } from 'vitest';
import { ServiceProcess } from '../support/service-process.js';

let service: ServiceProcess;
afterEach(() => service.dispose());

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

test('after pairing, use, rotation and revocation no token or code is in the log or the store: hashes only (CASES BL-38)', async () => {
  service = await ServiceProcess.start({ env: { LMSP_LOG_LEVEL: 'trace' } });
  const form = async (path: string, fields: Record<string, string>): Promise<Record<string, string>> =>
    (await (
      await fetch(`${service.url}${path}`, { method: 'POST', body: new URLSearchParams(fields) })
    ).json()) as never;
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const asked = await form('/oauth/device_authorization', { client_id: 'app' });
  const codes = { device_code: asked['device_code']!, client_id: 'app', grant_type: GRANT };
  await form('/oauth/token', codes);
  await service.json('POST', `/v1/pairings/${asked['user_code']}/approve`);
  const { access_token: first = '', client_id: id } = await form('/oauth/token', codes);
  await service.request('GET', '/v1/models', undefined, as(first));
  const own = await service.request('POST', `/v1/clients/${id}/rotate`, undefined, as(first));
  const { token: second } = (await own.json()) as { token: string };
  await service.request('GET', '/v1/models', undefined, as(second));
  const { token: third } = await service.json<{ token: string }>('POST', `/v1/clients/${id}/rotate`, {
    grace_seconds: 5,
  });
  await service.request('GET', '/v1/models', undefined, as(`${third}x`));
  await form('/oauth/revoke', { token: third });
  expect((await service.request('GET', '/v1/models', undefined, as(third))).status).toBe(401);
  const secrets = [service.token, first, second, third, asked['device_code']!, asked['user_code']!];
  expect(new Set(secrets).size).toBe(6);
  service.signal('SIGTERM');
  expect(await service.exit()).toBe(0);

  const source = await new DataSource({ type: 'sqlite', database: join(service.dataDir, 'lmsp.sqlite') }).initialize();
  const tables = await source.query<{ name: string }[]>(`select name from sqlite_master where type = 'table'`);
  let rows = '';
  for (const { name } of tables) rows += JSON.stringify(await source.query(`select * from "${name}"`));
  await source.destroy();
  expect(rows).toContain('pairing.consumed');
  expect(service.output).toContain('pairing changed state');
  for (const secret of secrets) {
    expect(rows).not.toContain(secret);
    expect(service.output).not.toContain(secret);
    expect(rows).not.toContain(secret.replace('-', ''));
  }
});
