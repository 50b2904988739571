import { fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endLeftoverRunners, ProcessEngine } from '../../src/inference/index.js';
import { noteRunner } from '../../src/inference/process/runner-list.js';
import { SmallDisk } from '../support/small-disk.js';
import { waitFor } from '../support/wait-for.js';
import { engineContract } from './engine-contract.js';
import { GOLDEN, POCKET, realEngine } from './pocket.js';
import { endlessRequest, Recording, request } from './recording.js';

const PROMPTS = GOLDEN.slice(0, 6).map((each) => each.promptIds);

engineContract('onnxruntime in a child process', () =>
  Promise.resolve({ engine: realEngine(), spec: POCKET, prompts: PROMPTS }),
);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function notedPids(directory: string): number[] {
  return readdirSync(directory).map((name) => parseInt(name, 10));
}

describe('the runner process', () => {
  it('updates its cache in place where the self-test passes', async () => {
    const model = await realEngine().open(POCKET);
    expect(model.info).toMatchObject({ kvMode: 'in-place', contextLength: 2048, vocabularySize: 1024, warnings: [] });
    expect([...model.info.endTokenIds].sort()).toEqual([0, 2]);
    await model.close();
  });

  it('draws the same tokens for the same seed, alone or beside others, and others for another seed', async () => {
    const model = await realEngine().open(POCKET);
    const warm = (seed: number): ReturnType<typeof request> =>
      request(PROMPTS[0]!, { seed, temperature: 1.5, maxOutputTokens: 60 });
    const alone = new Recording(model, warm(5));
    await alone.ended;
    const [again, other] = [new Recording(model, warm(5)), new Recording(model, warm(6))];
    await Promise.all([again.ended, other.ended]);
    expect(again.ids).toEqual(alone.ids);
    expect(other.ids).not.toEqual(alone.ids);
    await model.close();
  });

  it('that is killed ends its generations as lost, and nothing else', async () => {
    const engine = realEngine();
    const model = await engine.open(POCKET);
    const run = new Recording(model, endlessRequest(model, PROMPTS[0]!, 1000));
    await waitFor('a step', () => run.steps.length > 0);
    process.kill(notedPids(engine.runnersDirectory)[0]!, 'SIGKILL');
    expect(await run.ended).toMatchObject({ outcome: 'lost', message: /SIGKILL/ });
    expect(await model.gone).toMatchObject({ expected: false });
    expect(notedPids(engine.runnersDirectory)).toEqual([]);
  });

  it('that hangs with work to do is ended by the watchdog', async () => {
    const engine = realEngine({ stallSeconds: 1.5 });
    const model = await engine.open(POCKET);
    const run = new Recording(model, endlessRequest(model, PROMPTS[0]!, 1000), { acknowledging: false });
    await waitFor('a step', () => run.steps.length > 0);
    const pid = notedPids(engine.runnersDirectory)[0]!;
    process.kill(pid, 'SIGSTOP');
    run.generation.acknowledge(0);
    expect(await run.ended).toMatchObject({ outcome: 'lost', message: /no progress/ });
    await waitFor('it to be dead', () => !isAlive(pid));
  });

  it('BL-30: four opened at once, again and again, all work and end without a word', async () => {
    const said: string[] = [];
    const engine = realEngine({ onLog: ({ text }) => said.push(text) });
    for (let round = 0; round < 3; round += 1) {
      const models = await Promise.all(Array.from({ length: 4 }, () => engine.open(POCKET)));
      const runs = models.map((model) => new Recording(model, request(PROMPTS[0]!)));
      for (const run of runs) expect(await run.ended).toMatchObject({ outcome: 'finished' });
      expect(new Set(runs.map(({ ids }) => ids.join())).size).toBe(1);
      await Promise.all(models.map((model) => model.close()));
    }
    expect([said, notedPids(engine.runnersDirectory)]).toEqual([[], []]);
  });

  it('goes on through SIGINT and SIGTERM: only the service ends it (WIRE B6)', async () => {
    const engine = realEngine();
    const model = await engine.open(POCKET);
    const pid = notedPids(engine.runnersDirectory)[0]!;
    process.kill(pid, 'SIGINT');
    process.kill(pid, 'SIGTERM');
    const run = new Recording(model, request(PROMPTS[0]!));
    expect(await run.ended).toMatchObject({ outcome: 'finished' });
    await model.close();
    expect(isAlive(pid)).toBe(false);
  });

  it('ends with the service, however that ended', async () => {
    const engine = realEngine();
    const parent = fork(
      new URL('./engine-host.mjs', import.meta.url),
      [JSON.stringify(POCKET), engine.runnersDirectory],
      {
        execArgv: [],
      },
    );
    await waitFor('the model to be open', () => new Promise((resolve) => parent.once('message', resolve)));
    const pid = notedPids(engine.runnersDirectory)[0]!;
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor('the runner to end', () => !isAlive(pid));
  });

  it.each([
    ['a folder that is not there', { directory: '/nowhere' }, /config\.json cannot be read/],
    ['a graph that is not there', { graphFile: 'onnx/none.onnx' }, /onnx\/none\.onnx/],
    ['a file that is no graph', { graphFile: 'tokenizer.json' }, /tokenizer\.json: it is/],
  ])('refuses %s by name, and leaves no process', async (_, wrong, message) => {
    const engine = realEngine();
    const opening = engine.open({ ...POCKET, ...wrong });
    await expect(opening).rejects.toMatchObject({
      code: 'model_load_failed',
      message: expect.stringMatching(message) as string,
    });
    expect(notedPids(engine.runnersDirectory)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('tells the runtime to report nothing to its maker', async () => {
    const engine = realEngine();
    const model = await engine.open(POCKET);
    const [pid] = notedPids(engine.runnersDirectory);
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    expect(environment).toContain('ORT_DISABLE_TELEMETRY=1');
    await model.close();
  });

  it.runIf(SmallDisk.available)(
    'refuses a load on a full disk as storage_full, and the next one has room',
    async () => {
      const disk = await SmallDisk.mount('1m');
      const engine = realEngine({ runnersDirectory: join(disk.outside, 'runners') });
      await disk.fill();
      await expect(engine.open(POCKET)).rejects.toMatchObject({ code: 'storage_full' });
      expect(notedPids(engine.runnersDirectory), 'no half note').toEqual([]);
      await disk.empty();
      await (await engine.open(POCKET)).close();
      await disk.unmount();
    },
  );

  it('refuses a load when its process cannot start', async () => {
    const engine = new ProcessEngine({
      runnersDirectory: await mkdtemp(join(tmpdir(), 'lmsp-')),
      stallSeconds: 5,
      maxWaiting: 1,
      entry: '/nowhere.js',
    });
    await expect(engine.open(POCKET)).rejects.toMatchObject({ code: 'model_load_failed', message: /the runner ended/ });
  });
});

describe('leftover runners', () => {
  const idle = (): ReturnType<typeof fork> =>
    fork(new URL('./idle.mjs', import.meta.url), { execArgv: [], stdio: 'ignore' });

  it('are ended by the next start, and no process that only has the same pid', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'lmsp-runners-'));
    const [leftover, stranger] = [idle(), idle()];
    await noteRunner(directory, leftover.pid!);
    await writeFile(
      join(directory, `${stranger.pid}.json`),
      JSON.stringify({ pid: stranger.pid, birth: 'another boot 1' }),
    );
    await writeFile(join(directory, '999999999.json'), '{');
    expect(await endLeftoverRunners(directory)).toBe(1);
    await waitFor('its end', () => !isAlive(leftover.pid!));
    expect(isAlive(stranger.pid!)).toBe(true);
    expect(readdirSync(directory)).toEqual([]);
    stranger.kill('SIGKILL');
  });

  it('are none where the folder is not there', async () => {
    expect(await endLeftoverRunners('/nowhere/runners')).toBe(0);
  });
});
