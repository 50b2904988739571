import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import { CommandLine, type CommandResult } from '../support/command-line.js';
import { ServiceProcess } from '../support/service-process.js';
import { temporaryDirectory } from '../support/store.js';

const run = promisify(execFile);

describe('lmsp extension new', () => {
  let folder: string;
  let dataDir: string;

  beforeAll(async () => {
    [folder, dataDir] = [await temporaryDirectory(), await temporaryDirectory()];
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await rm(dataDir, { recursive: true, force: true });
  });

  const make = (...parameters: string[]): Promise<CommandResult> =>
    CommandLine.run(['extension', 'new', ...parameters], { dataDir });

  it('makes a package that compiles strictly, passes its own tests and is loaded by a service', async () => {
    const made = join(folder, 'order-log');
    expect(await make('order-log', '--dir', made)).toMatchObject({ code: 0, stdout: `${made}\n` });
    await install(made);
    const seconds = { compile: await timed(() => bin(made, 'typescript/bin/tsc')) };
    const tests = await timed(() => bin(made, 'vitest/vitest.mjs', 'run'));
    let service: ServiceProcess | null = null;
    const boot = await timed(async () => {
      const main = join(made, 'node_modules/lmsp-service/dist/src/main.js');
      const env = { LMSP_EXTENSIONS: join(made, 'dist/index.js'), LMSP_EXT_ORDER_LOG_KEEP_DAYS: '7' };
      service = await ServiceProcess.start({ dataDir, env, command: [process.execPath, main] });
    });
    const started = service as ServiceProcess | null;
    expect(started?.output).toContain('"extension":"order-log"');
    expect((await started?.request('GET', '/v1/order-log?task_id=none'))?.status).toBe(200);
    await started?.dispose();
    process.stdout.write(`scaffold, in seconds: ${JSON.stringify({ ...seconds, tests, boot })}\n`);
    expect(await wordsOf(made)).not.toMatch(/task.?audit/i);
  }, 240_000);

  it('refuses a folder with something in it, and leaves it alone', async () => {
    const taken = join(folder, 'taken');
    await mkdir(taken);
    await writeFile(join(taken, 'precious'), '');
    expect(await make('taken', '--dir', taken)).toMatchObject({ code: 6, stdout: '' });
    expect(await readdir(taken)).toEqual(['precious']);
  });

  it('refuses a name that no extension can have', async () => {
    const { code, stderr } = await make('Order_Log', '--dir', join(folder, 'other'));
    expect([code, stderr]).toEqual([2, expect.stringContaining('Order_Log is no name of an extension')]);
  });
});

/** As npm does: the files of the package that are published, and its dependencies and the author's beside them. */
async function install(folder: string): Promise<void> {
  const [modules, ours] = [join(folder, 'node_modules'), join(packageRoot(), 'node_modules')];
  await mkdir(modules);
  for (const name of await readdir(ours)) {
    if (!name.startsWith('.')) await symlink(join(ours, name), join(modules, name));
  }
  const { files } = JSON.parse(await readFile(join(packageRoot(), 'package.json'), 'utf8')) as { files: string[] };
  for (const file of ['package.json', ...files]) {
    await cp(join(packageRoot(), file), join(modules, 'lmsp-service', file), { recursive: true });
  }
}

function bin(folder: string, file: string, ...parameters: string[]): Promise<unknown> {
  const command = run(process.execPath, [join(folder, 'node_modules', file), ...parameters], { cwd: folder });
  return command.catch((error: { stdout?: string; message: string }) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return Math.round((performance.now() - since) / 100) / 10;
}

/** Everything that was generated, names of files included. */
async function wordsOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  const own = files.filter((file) => !file.includes('node_modules') && !file.includes('/dist/'));
  return (await Promise.all(own.map(async (file) => file + (await readFile(file, 'utf8'))))).join('\n');
}
