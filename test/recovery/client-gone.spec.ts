import { Agent, request } from 'node:http';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG_STORY } from '../support/held-tasks.js';
import { RawConnection } from '../support/raw-connection.js';
import { ServiceProcess } from '../support/service-process.js';
import { SwallowingProxy } from '../support/swallowing-proxy.js';
import { waitFor } from '../support/wait-for.js';

/** About 1,900 tokens: 15 chunks of the prompt. */
const LONG_PROMPT = Array.from({ length: 1850 }, (_, i) => i % 10).join('');
const FIRST_WORD = 'response.output_text.delta';

interface ShownTask {
  id: string;
  status: string;
  response_id: string;
  progress: { phase: string; prompt_tokens: number | null } | null;
}

let service: ServiceProcess;
let handles: number;
beforeAll(async () => {
  // The long prompt comes more than once, and is to take its time each time.
  service = await ServiceProcess.start({ env: { LMSP_THREADS: '1', LMSP_PREFIX_CACHE_BYTES: '0' } });
  // The model, the workers and the pages of the store are open from now on.
  await (await stream({ background: false, prompt: 'short' }, port())).ends();
  handles = await handlesOf(service);
});
afterAll(() => service.dispose());

/** On a connection of its own each, so that none is left open. */
function get<T>(path: string, method = 'GET'): Promise<T> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${service.token}` };
    const asked = request(`${service.url}${path}`, { method, headers, agent: new Agent() }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(JSON.parse(text) as T));
    });
    asked.on('error', reject).end();
  });
}

/** Open files and sockets of the service; one that asks for it by the process file system is none of them. */
async function handlesOf({ pid }: ServiceProcess): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

interface Kind {
  background: boolean;
  prompt: 'long' | 'short';
}

async function stream({ background, prompt }: Kind, port: number): Promise<RawConnection> {
  const input = prompt === 'long' ? { input: LONG_PROMPT, max_output_tokens: 100 } : { max_output_tokens: 600 };
  const body = JSON.stringify({ ...LONG_STORY, ...input, background, stream: true });
  const connection = await RawConnection.open(port);
  connection.send(
    'POST /v1/responses HTTP/1.1',
    'Host: localhost',
    'Connection: close',
    `Authorization: Bearer ${service.token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  );
  return connection;
}

function port(): number {
  return Number(new URL(service.url).port);
}

async function newest(condition: (task: ShownTask) => boolean): Promise<ShownTask> {
  return waitFor('the newest task to get there', async () => {
    const { data } = await get<{ data: ShownTask[] }>('/v1/tasks?limit=1');
    return data[0] && condition(data[0]) ? data[0] : null;
  });
}

async function inPrompt(connection: RawConnection): Promise<ShownTask> {
  const task = await newest(({ status, progress }) => status === 'running' && progress?.phase === 'prefill');
  expect(connection.received).not.toContain(FIRST_WORD);
  return task;
}

async function inOutput(connection: RawConnection): Promise<ShownTask> {
  await connection.receives(FIRST_WORD);
  return newest(({ status }) => status === 'running');
}

/** Nothing is left of the client: no row of the model is taken, no handle is open, no error was logged. */
async function baseLine(): Promise<void> {
  await waitFor('the handles to be closed', async () => (await handlesOf(service)) <= handles);
  const { data } = await get<{ data: unknown[] }>('/v1/tasks?status=queued,loading,running,cancelling');
  expect(data).toEqual([]);
  expect(service.output).not.toMatch(/"level":"(error|fatal)"/);
}

describe.runIf(process.platform === 'linux')('a client of a real service that is gone (CASES BL-08)', () => {
  it('(a) cut in the prompt: its foreground task is cancelled before the first word', async () => {
    const client = await stream({ background: false, prompt: 'long' }, port());
    const { id, response_id } = await inPrompt(client);
    client.cut();
    await newest((task) => task.id === id && task.status === 'cancelled');
    const response = await get<{ output: unknown[]; usage: object }>(`/v1/responses/${response_id}`);
    expect(response.output).toEqual([]);
    expect(response.usage).toMatchObject({ output_tokens: 0 });
    await baseLine();
  });

  it('(b) cut in the output: its foreground task is cancelled, and keeps what it had said', async () => {
    const client = await stream({ background: false, prompt: 'short' }, port());
    const { id, response_id } = await inOutput(client);
    client.cut();
    await newest((task) => task.id === id && task.status === 'cancelled');
    const response = await get<{ output: unknown[] }>(`/v1/responses/${response_id}`);
    expect(response.output).toMatchObject([{ status: 'incomplete' }]);
    await baseLine();
  });

  it.each([
    ['prompt', 'long', inPrompt],
    ['output', 'short', inOutput],
  ] as const)('(a, b) cut in the %s: its background task goes on to its end', async (_, prompt, reach) => {
    const client = await stream({ background: true, prompt }, port());
    const { id } = await reach(client);
    client.cut();
    await newest((task) => task.id === id && task.status === 'completed');
    await baseLine();
  });

  it.each([
    ['foreground', 'prompt', 'long', inPrompt],
    ['foreground', 'output', 'short', inOutput],
    ['background', 'prompt', 'long', inPrompt],
    ['background', 'output', 'short', inOutput],
  ] as const)('(c) swallowed without a word: a %s task in the %s is stored as any', async (kind, _, prompt, reach) => {
    const proxy = await SwallowingProxy.to(port());
    try {
      const client = await stream({ background: kind === 'background', prompt }, proxy.port);
      const { id } = await reach(client);
      proxy.swallow();
      await newest((task) => task.id === id && task.status === 'completed');
      expect(client.closed).toBe(false);
      expect(client.received).not.toContain('[DONE]');
      await baseLine();
    } finally {
      await proxy.close();
    }
  });
});
