import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import { CommandLine, type CommandResult } from '../support/command-line.js';
import { FakeHub } from '../support/fake-hub.js';
import { stallAt } from '../support/hub-faults.js';
import { ServiceProcess } from '../support/service-process.js';
import { waitFor } from '../support/wait-for.js';

const GRAPH = 'onnx/model.onnx';
const repository = 'org/model';

let hub: FakeHub;
let service: ServiceProcess;
beforeAll(async () => {
  hub = await FakeHub.start(repository, join(packageRoot(), 'models/pocket-embed'));
  const env = { LMSP_HUB_URL: hub.url, LMSP_PULL_STALL_SECONDS: '1', LMSP_PULL_TRIES: '100' };
  service = await ServiceProcess.start({ env });
});
afterAll(async () => {
  await service.dispose();
  await hub.close();
});

const parameters = (name: string, more: string[]): string[] => ['models', 'pull', name, ...more];
const pull = (name: string, ...more: string[]): Promise<CommandResult> =>
  CommandLine.run(parameters(name, more), { dataDir: service.dataDir });

describe('lmsp models pull', () => {
  it('on Ctrl-C leaves the pull to go on, names the way back to it, and ends with 130', async () => {
    hub.fault(GRAPH, stallAt(1000), 100);
    const left = CommandLine.start(parameters(repository, ['--id', 'left']), { dataDir: service.dataDir });
    await left.noted(' % · ');
    left.child.kill('SIGINT');
    expect(await left.ended).toBe(130);
    expect(left.stdout).toBe('');
    const [, task] = /lmsp tasks tail (task_\w+) --from \d+/.exec(left.stderr)!;
    const status = async () => (await service.json<{ status: string }>('GET', `/v1/tasks/${task}`)).status;
    expect(await status()).toBe('running');
    expect((await pull(repository)).code, 'it is being pulled').toBe(6);
    hub.fault(GRAPH, stallAt(0), 0);
    await waitFor('the end of the pull', async () => (await status()) === 'completed');
    expect(await service.json('GET', '/v1/models/left')).toMatchObject({ lmsp: { state: 'available' } });
    // What was fetched would be found again.
    hub.move('b'.repeat(40));
  });

  it('follows the pull to its end, shows the model that it has become, and exits with 0', async () => {
    const { code, stdout, stderr } = await pull(repository, '--id', 'mine');
    expect([code, stderr]).toEqual([0, expect.stringContaining('100 % · ')]);
    expect(stdout).toMatch(/^model +mine$/m);
    expect(stdout).toMatch(/^state +available$/m);
    expect(await service.json('GET', '/v1/models/mine')).toMatchObject({ lmsp: { type: 'embedding' } });
  });

  it('prints the id alone with -q', async () => {
    expect(await pull(repository, '--id', 'quiet', '-q')).toMatchObject({ code: 0, stdout: 'quiet\n' });
  });

  it('prints exactly the task of the API with --json, and its events with -o jsonl', async () => {
    const { code, stdout } = await pull(repository, '--json');
    const task = JSON.parse(stdout);
    expect([code, task]).toEqual([0, await service.json('GET', `/v1/tasks/${task.id}`)]);
    expect(task.result).toMatchObject({ model: repository, repository, commit: hub.commit });
    const lines = (await pull(repository, '-o', 'jsonl')).stdout.trim().split('\n');
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ type: 'response.completed', task: { status: 'completed' } });
  });

  it.each([
    ['a repository that the hub does not have: 1', 'org/nothing', [], 1, 'model_not_found'],
    ['a dtype that is not there: 1', repository, ['--dtype', 'q4', '--id', 'q4'], 1, 'invalid_value'],
    ['a name that is taken: 6', repository, ['--id', 'pocket'], 6, 'model_exists'],
    ['what is no repository: 2', '../x', [], 2, 'invalid_value'],
  ])('says on standard error what is wrong with %s', async (_, name, more, code, word) => {
    const refused = await pull(name, ...more);
    expect([refused.code, refused.stdout]).toEqual([code, '']);
    expect(refused.stderr).toContain(word);
  });
});
