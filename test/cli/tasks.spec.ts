import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine, type CommandResult } from '../support/command-line.js';
import { ServiceProcess } from '../support/service-process.js';

const STORY = 'Tell me a long story.';
const RULE = `\n\n${'―'.repeat(40)}\n\n`;

/** Nothing is claimed, so that what waits goes on waiting. */
const PAUSED = { LMSP_MAX_ROWS: '0' };

let service: ServiceProcess;
beforeAll(async () => {
  service = await ServiceProcess.start();
});
afterAll(() => service.dispose());

async function restart(env: Record<string, string> = {}): Promise<void> {
  await service.kill();
  service = await ServiceProcess.start({ dataDir: service.dataDir, env });
}

const start = (...parameters: string[]): CommandLine => CommandLine.start(parameters, { dataDir: service.dataDir });
const lmsp = (...parameters: string[]): Promise<CommandResult> =>
  CommandLine.run(parameters, { dataDir: service.dataDir });

/** Id of a new background task. */
async function enqueue(...parameters: string[]): Promise<string> {
  return (await lmsp('run', 'pocket', STORY, '--background', ...parameters)).stdout.trim();
}

async function textOf(task: string): Promise<string> {
  const path = `/v1/responses/${task.replace('task_', 'resp_')}`;
  const { output } = await service.json<{ output: { content: { text: string }[] }[] }>('GET', path);
  return output[0]!.content[0]!.text;
}

describe('lmsp tasks', () => {
  it('shows the object of the API, by a prefix of its id or by its response', async () => {
    const id = await enqueue();
    expect((await lmsp('tasks', 'wait', id, '-q')).stdout).toBe(`${id}\n`);
    const wire = await service.json('GET', `/v1/tasks/${id}`);
    for (const name of [id, id.slice(0, 25), id.slice(5, 25), id.replace('task_', 'resp_')]) {
      expect(JSON.parse((await lmsp('tasks', 'show', name, '--json')).stdout)).toEqual(wire);
    }
    const list = JSON.parse((await lmsp('tasks', 'ls', '-o', 'json')).stdout);
    expect(list).toEqual(await service.json('GET', '/v1/tasks'));
  });

  it('refuses what has ended with 6', async () => {
    const { lmsp: of } = JSON.parse((await lmsp('run', 'pocket', 'Hello!', '--json')).stdout);
    expect((await lmsp('tasks', 'wait', of.task_id)).code).toBe(0);
    expect((await lmsp('tasks', 'cancel', of.task_id)).code).toBe(6);
  });
});

describe('tasks that wait', () => {
  beforeAll(() => restart(PAUSED));
  afterAll(() => restart());

  it('are not told apart by a short or ambiguous prefix: 2, and 5 for an unknown one', async () => {
    const [a, b] = [await enqueue(), await enqueue()];
    const same = [...a].findIndex((character, i) => character !== b[i]);
    const ambiguous = await lmsp('tasks', 'show', a.slice(0, Math.min(same, 'task_'.length + 8)));
    expect(ambiguous.code).toBe(2);
    expect((await lmsp('tasks', 'show', 'task_zzzzzzzz')).code).toBe(5);
    expect((await lmsp('tasks', 'show', `task_${'z'.repeat(26)}`)).code).toBe(5);
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
    await restart(PAUSED);
    const [resumed, retried] = [await enqueue('--on-restart', 'resume'), await enqueue('--on-restart', 'retry')];
    const tails = [start('tasks', 'tail', resumed), start('tasks', 'tail', retried)];
    const raw = start('tasks', 'tail', resumed, '-o', 'jsonl');
    await Promise.all([...tails.map((tail) => tail.noted('queued')), raw.printed('queued')]);
    await restart();
    await Promise.all([...tails.map((tail) => tail.printed(/\w/)), raw.printed('delta')]);
    await restart();

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
  });

  it('stops watching on Ctrl-C, names the way back, and leaves the task alone', async () => {
    await restart(PAUSED);
    const id = await enqueue();
    const tail = start('tasks', 'tail', id);
    await tail.noted('queued');
    await restart();
    await tail.printed(/\w/);
    tail.child.kill('SIGINT');
    expect(await tail.ended).toBe(130);
    const [, from] = /lmsp tasks tail task_\w+ --from (\d+)/.exec(tail.stderr)!;
    const rest = await lmsp('tasks', 'tail', id, '--from', from!);
    expect(`${tail.stdout}${rest.stdout}`).toBe(`${await textOf(id)}\n`);
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
