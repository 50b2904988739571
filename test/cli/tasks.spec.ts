import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine, type CommandResult } from '../support/command-line.js';
import { ServiceProcess } from '../support/service-process.js';

const STORY = 'Tell me a long story.';
const RULE = `\n\n${'―'.repeat(40)}\n\n`;

let service: ServiceProcess;
beforeAll(async () => {
  // Nothing is claimed, so that what waits goes on waiting.
  service = await ServiceProcess.start({ env: { LMSP_MAX_ROWS: '0' } });
});
afterAll(() => service.dispose());

async function killAndRestart(env: Record<string, string> = {}): Promise<void> {
  await service.kill();
  service = await ServiceProcess.start({ dataDir: service.dataDir, env });
}

const start = (...parameters: string[]): CommandLine => CommandLine.start(parameters, { dataDir: service.dataDir });
const lmsp = (...parameters: string[]): Promise<CommandResult> =>
  CommandLine.run(parameters, { dataDir: service.dataDir });

/** Id of a new background task. */
async function enqueue(policy = 'resume'): Promise<string> {
  const body = { model: 'pocket', input: STORY, background: true, on_restart: policy };
  const { lmsp: of } = await service.json<{ lmsp: { task_id: string } }>('POST', '/v1/responses', body);
  return of.task_id;
}

async function textOf(task: string): Promise<string> {
  const path = `/v1/responses/${task.replace('task_', 'resp_')}`;
  const { output } = await service.json<{ output: { content: { text: string }[] }[] }>('GET', path);
  return output[0]!.content[0]!.text;
}

describe('tasks that wait', () => {
  it('are put there by run --background, and shown as the object of the API by any name', async () => {
    const id = (await lmsp('run', 'pocket', STORY, '--background')).stdout.trim();
    const wire = await service.json('GET', `/v1/tasks/${id}`);
    for (const name of [id.slice(0, 25), id.replace('task_', 'resp_')]) {
      expect(JSON.parse((await lmsp('tasks', 'show', name, '--json')).stdout)).toEqual(wire);
    }
    const list = JSON.parse((await lmsp('tasks', 'ls', '-o', 'json')).stdout);
    expect(list).toEqual(await service.json('GET', '/v1/tasks'));
  });

  it('are not found by a prefix that none has: 5', async () => {
    expect((await lmsp('tasks', 'show', 'task_zzzzzzzz')).code).toBe(5);
  });

  it('are waited for no longer than --timeout: 7', async () => {
    expect((await lmsp('tasks', 'wait', await enqueue(), '--timeout', '500ms')).code).toBe(7);
  });

  it('are cancelled by name at once, and all together only with --yes', async () => {
    const [named, other] = [await enqueue(), await enqueue()];
    expect(JSON.parse((await lmsp('tasks', 'cancel', named, '--json')).stdout).status).toBe('cancelled');
    const asked = await lmsp('tasks', 'cancel', '--queued');
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain(other);
    expect((await lmsp('tasks', 'cancel', '--queued', '--yes', '-q')).stdout).toContain(`${other}\n`);
    expect((await lmsp('tasks', 'wait', named, other)).code).toBe(1);
  });
});

describe('lmsp tasks tail', () => {
  it('outlives a killed service: resumed text goes on, retried text starts anew behind a rule (invariant 7)', async () => {
    // Two at a time, and two go first: the readers are back by the time that theirs run.
    for (let ahead = 0; ahead < 2; ahead++) await enqueue();
    const [resumed, retried] = [await enqueue('resume'), await enqueue('retry')];
    const tails = [start('tasks', 'tail', resumed), start('tasks', 'tail', retried)];
    const raw = start('tasks', 'tail', resumed, '-o', 'jsonl');
    const left = start('tasks', 'tail', resumed);
    await Promise.all([...[...tails, left].map((tail) => tail.noted('queued')), raw.printed('queued')]);
    await killAndRestart({ LMSP_MAX_ROWS: '2' });
    await Promise.all([...[...tails, left].map((tail) => tail.printed(/\w/)), raw.printed('delta')]);
    left.child.kill('SIGINT');
    await killAndRestart();

    expect(await Promise.all([...tails, raw].map(({ ended }) => ended))).toEqual([0, 0, 0]);
    expect(tails[0]!.stdout).toBe(`${await textOf(resumed)}\n`);
    const [before, after] = tails[1]!.stdout.split(RULE);
    expect(after).toBe(`${await textOf(retried)}\n`);
    expect(after!.startsWith(before!)).toBe(true);
    const numbers = raw.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).sequence_number);
    expect(numbers).toEqual(numbers.map((_, i) => i));

    // Ctrl-C stopped watching, named the way back and left the task alone.
    expect(await left.ended).toBe(130);
    const [, from] = /lmsp tasks tail task_\w+ --from (\d+)/.exec(left.stderr)!;
    const rest = await lmsp('tasks', 'tail', resumed, '--from', from!);
    expect(`${left.stdout}${rest.stdout}`).toBe(tails[0]!.stdout);
  }, 90_000);
});

describe('tasks that have ended', () => {
  it('are waited for no more: 0, and not cancelled: 6', async () => {
    const { lmsp: of } = JSON.parse((await lmsp('run', 'pocket', 'Hello!', '--json')).stdout);
    expect((await lmsp('tasks', 'wait', of.task_id)).code).toBe(0);
    expect((await lmsp('tasks', 'cancel', of.task_id)).code).toBe(6);
  });
});

describe('lmsp run', () => {
  it('cancels its response on Ctrl-C and ends with 130', async () => {
    const run = start('run', 'pocket', STORY, '-o', 'jsonl');
    await run.printed('delta');
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(130);
    const { response } = JSON.parse(run.stdout.trim().split('\n').at(-1)!);
    expect(response.status).toBe('cancelled');
  });

  it('ends without a word when its reader has seen enough (| head)', async () => {
    const run = start('run', 'pocket', STORY);
    await run.printed(/\w/);
    run.child.stdout!.destroy();
    expect(await run.ended).toBe(0);
    expect(run.stderr).toBe('');
  });
});
