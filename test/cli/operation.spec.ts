import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine, type CommandResult } from '../support/command-line.js';
import { ServiceProcess } from '../support/service-process.js';
import { distEntry } from '../support/dist-entry.js';

let service: ServiceProcess;
beforeAll(async () => {
  service = await ServiceProcess.start({ command: [process.execPath, distEntry('cli/main.js'), 'serve'] });
});
afterAll(() => service.dispose());

const lmsp = (parameters: string[], env: Record<string, string> = {}): Promise<CommandResult> =>
  CommandLine.run(parameters, { dataDir: service.dataDir, env });

describe('lmsp serve, status and stop', () => {
  it('hands on the exit code of the service: 78 for an invalid configuration, 75 for a directory in use', async () => {
    expect((await lmsp(['serve', '--port', 'many'])).code).toBe(78);
    expect((await lmsp(['serve', '--port', '0'])).code).toBe(75);
  }, 60_000);

  it('shows the object of the API as status', async () => {
    const { code, stdout } = await lmsp(['status', '--wait', '10s', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(await service.json('GET', '/v1/service'));
  });
});

describe('lmsp retention, metrics, audit and config', () => {
  it('prints what the routes answer', async () => {
    const report = JSON.parse((await lmsp(['retention', 'status', '--json'])).stdout);
    expect(report.data.map(({ kind }: { kind: string }) => kind)).toContain('tasks');
    expect(JSON.parse((await lmsp(['retention', 'run', '--dry-run', '--json'])).stdout).dry_run).toBe(true);
    expect(JSON.parse((await lmsp(['audit', '--json'])).stdout)).toEqual(await service.json('GET', '/v1/audit'));
    const metrics = await lmsp(['metrics', 'lmsp_tasks{']);
    expect(metrics.stdout).toMatch(/^lmsp_tasks\{status="queued"\} 0$/m);
    expect(metrics.stdout).not.toContain('lmsp_http');
  });

  it('names every problem of the configuration, and where values come from', async () => {
    const check = await lmsp(['config', 'check'], { LMSP_PORT: 'x', LMSP_MAX_ROWS: '1000' });
    expect(check.code).toBe(1);
    expect(check.stderr).toMatch(/LMSP_PORT[^]*LMSP_MAX_ROWS|LMSP_MAX_ROWS[^]*LMSP_PORT/);
    const shown = await lmsp(['config', 'show', '--origin', '-o', 'json'], { LMSP_MAX_ROWS: '3' });
    expect(JSON.parse(shown.stdout).data).toContainEqual({ key: 'LMSP_MAX_ROWS', value: 3, origin: 'environment' });
  });
});

describe('lmsp completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('has a script for %s', async (shell) => {
    expect((await lmsp(['completion', shell])).stdout).toContain('lmsp complete');
  });

  it('offers commands, and the ids of models that are there now', async () => {
    expect((await lmsp(['complete', '--', 'ta'])).stdout).toMatch(/^tasks\t/m);
    expect((await lmsp(['complete', '--', 'run', ''])).stdout).toMatch(/^pocket\t/m);
    const unreachable = await lmsp(['complete', '--', 'run', ''], { LMSP_URL: 'http://127.0.0.1:2' });
    expect(unreachable.code).toBe(0);
  });
});

describe('lmsp stop', () => {
  it('ends the service cleanly, and with --wait returns once it is gone', async () => {
    expect((await lmsp(['stop', '--wait'])).code).toBe(0);
    expect(await service.noted()).toBeNull();
    expect(await service.exit()).toBe(0);
  });
});
