import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine, type CommandResult } from '../support/command-line.js';
import { ModelFolder } from '../integration/models/model-folder.js';
import { ServiceProcess } from '../support/service-process.js';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:2';

let service: ServiceProcess;
let stranger: Server;
let strangerUrl: string;
/** What the stranger was sent as Authorization. */
const overheard: (string | undefined)[] = [];

beforeAll(async () => {
  service = await ServiceProcess.start();
  stranger = createServer((request, response) => {
    overheard.push(request.headers.authorization);
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"who?","type":"authentication_error","param":null,"code":"invalid_api_key"}}');
  }).listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  strangerUrl = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
});
afterAll(async () => {
  stranger.close();
  await service.dispose();
});

const lmsp = (parameters: string[], env: Record<string, string> = {}, input?: string): Promise<CommandResult> =>
  CommandLine.run(parameters, { dataDir: service.dataDir, env, ...(input !== undefined && { input }) });

describe('data and notes (OPERATE 1.2: data on stdout, everything else on stderr)', () => {
  it('prints the answer of a model, and nothing else, on standard output', async () => {
    const { code, stdout } = await lmsp(['run', 'pocket', 'Hello!']);
    expect(stdout).toBe('Hello! How can I help you today?\n');
    expect(code).toBe(0);
  });

  it('reads the prompt from standard input', async () => {
    const { stdout } = await lmsp(['run', 'pocket', '-', '--no-stream', '--seed', '1'], {}, 'Hello!\n');
    expect(stdout).toBe('Hello! How can I help you today?\n');
  });

  it('prints exactly the object of the API as JSON', async () => {
    const { stdout } = await lmsp(['models', 'show', 'pocket', '--json']);
    expect(JSON.parse(stdout)).toEqual(await service.json('GET', '/v1/models/pocket'));
    const run = JSON.parse((await lmsp(['run', 'pocket', 'Hello!', '-o', 'json'])).stdout);
    expect(run).toEqual(await service.json('GET', `/v1/responses/${run.id}`));
  });
});

describe('exit codes (OPERATE 1.2)', () => {
  it.each([
    ['what is not a command', ['fly'], 2],
    ['a value that no option takes', ['run', 'pocket', 'x', '--seed', 'much'], 2],
    ['a missing prompt', ['run', 'pocket'], 2],
    ['a value that the service refuses', ['run', 'pocket', 'x', '--temperature', '9'], 2],
    ['an unknown model', ['run', 'nobody', 'x'], 5],
    ['help', ['--help'], 0],
  ])('for %s', async (_what, parameters, expected) => {
    const { code, stdout } = await lmsp(parameters);
    expect(code).toBe(expected);
    if (expected !== 0) expect(stdout).toBe('');
  });

  it('adds a model from a folder, says what is wrong with one, and forgets it', async () => {
    const folder = await ModelFolder.copy();
    try {
      const added = await lmsp(['models', 'add', folder.directory, '--id', 'mine', '--dtype', 'q4', '--json']);
      expect([added.code, JSON.parse(added.stdout).lmsp.state]).toEqual([0, 'available']);
      expect((await lmsp(['models', 'add', folder.directory, '--id', 'mine'])).code).toBe(6);
      expect((await lmsp(['models', 'rm', 'mine', '--yes'])).code).toBe(0);
      await folder.cut('onnx/model.onnx');
      const broken = await lmsp(['models', 'add', folder.directory, '--id', 'mine', '--dtype', 'fp32']);
      expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining('model_unsupported')]);
      expect((await lmsp(['models', 'rm', 'mine', '--yes'])).code).toBe(0);
      expect(await service.json('GET', '/v1/models/pocket')).toMatchObject({ id: 'pocket' });
    } finally {
      await folder.remove();
    }
  });

  it('is 3, with the command that starts one, where no service answers', async () => {
    const { code, stderr } = await lmsp(['ls'], { LMSP_URL: NOWHERE });
    expect(code).toBe(3);
    expect(stderr).toMatch(/^lmsp: no service answers at .*; start it with: lmsp serve\n$/);
    expect((await lmsp(['status', '--wait', '0s'], { LMSP_URL: NOWHERE })).code).toBe(7);
  });

  it('is 4 for a token that the service does not know', async () => {
    expect((await lmsp(['ls'], { LMSP_TOKEN: 'lmsp_unknown' })).code).toBe(4);
  });
});

describe('who may see a token', () => {
  it("keeps the owner's token from any other service (bearer order)", async () => {
    const { code, stderr } = await lmsp(['ls', '--url', strangerUrl]);
    expect(overheard).toEqual([undefined]);
    expect(code).toBe(4);
    expect(stderr).not.toContain(service.token);
  });

  it('takes another name of the own service for what it is', async () => {
    const { port } = new URL(service.url);
    expect((await lmsp(['ls', '--url', `http://localhost:${port}`])).code).toBe(0);
  });

  it('prefers --token-file to LMSP_TOKEN', async () => {
    const file = join(service.dataDir, 'other-token');
    await writeFile(file, 'from-file\n');
    overheard.length = 0;
    await lmsp(['ls', '--url', strangerUrl, '--token-file', file], { LMSP_TOKEN: 'from-environment' });
    expect(overheard).toEqual(['Bearer from-file']);
  });

  it('sends none over http to another machine', async () => {
    const { code, stderr } = await lmsp(['ls', '--url', 'http://192.0.2.1'], { LMSP_TOKEN: 'lmsp_secretsecret' });
    expect(code).toBe(2);
    expect(stderr).not.toContain('secretsecret');
  });

  it('has no flag for it, and does not repeat one that was tried', async () => {
    const { code, stderr } = await lmsp(['ls', `--token=${service.token}`]);
    expect(code).toBe(2);
    expect(stderr).not.toContain(service.token);
  });
});
