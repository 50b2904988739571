import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine, type CommandResult } from '../support/command-line.js';
import { ServiceProcess } from '../support/service-process.js';

let service: ServiceProcess;
beforeAll(async () => {
  service = await ServiceProcess.start();
});
afterAll(() => service.dispose());

const lmsp = (parameters: string[], env: Record<string, string> = {}): Promise<CommandResult> =>
  CommandLine.run(parameters, { dataDir: service.dataDir, env });

describe('lmsp token, whoami and clients (WIRE B8)', () => {
  it('makes a client, prints its token alone, and ends it only with --yes', async () => {
    const made = await lmsp([
      'token',
      'create',
      '--name',
      'ci',
      '--scopes',
      'models:read,responses:write',
      '--expires',
      '1h',
    ]);
    const token = made.stdout.trim();
    expect(token).toMatch(/^lmsp_\w{49}$/);
    expect(made.stderr).not.toContain(token);

    const me = JSON.parse((await lmsp(['whoami', '--json'], { LMSP_TOKEN: token })).stdout);
    expect(me).toMatchObject({ object: 'client', name: 'ci', scopes: ['models:read', 'responses:write'] });
    expect((await lmsp(['tasks', 'ls'], { LMSP_TOKEN: token })).code).toBe(4);

    expect((await lmsp(['clients', 'revoke', me.id])).code).toBe(2);
    expect((await lmsp(['clients', 'rotate', me.id.slice(0, 20), '--yes', '-o', 'none'])).code).toBe(0);
    expect((await lmsp(['whoami'], { LMSP_TOKEN: token })).code).toBe(4);
    expect((await lmsp(['clients', 'rename', me.id, 'CI', '--json'])).stdout).toContain('"name": "CI"');
    expect((await lmsp(['clients', 'revoke', me.id, '--yes'])).code).toBe(0);
    const list = JSON.parse((await lmsp(['clients', 'ls', '--json'])).stdout);
    expect(list).toEqual(await service.json('GET', '/v1/clients?limit=100'));
  });

  it('refuses a scope that there is none of: 2', async () => {
    expect((await lmsp(['token', 'create', '--name', 'ci', '--scopes', 'everything'])).code).toBe(2);
  });
});
