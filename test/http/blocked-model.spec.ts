import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProcessEngine } from '../../src/inference/index.js';
import { HttpApp } from '../support/http-app.js';
import { RawConnection } from '../support/raw-connection.js';
import { waitFor } from '../support/wait-for.js';

const COMMENT = ': keep-alive\n\n';

let http: HttpApp;
let folder: string;
/** While this file lies there no run of the model returns. */
let blockade: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lmsp-blocked-'));
  blockade = join(folder, 'blockade');
  const otherEngine = new ProcessEngine({
    runnersDirectory: join(folder, 'runners'),
    stallSeconds: 60,
    maxWaiting: 8,
    env: { BLOCKED_BY: blockade },
    entry: new URL('../support/blocking-runner.mjs', import.meta.url),
  });
  http = await HttpApp.start({ env: { LMSP_MAX_ROWS: '1', LMSP_HEARTBEAT_SECONDS: '1' }, otherEngine });
});

afterEach(async () => {
  await http.close();
  await rm(folder, { recursive: true, force: true });
});

const unblock = (): Promise<void> => rm(blockade);

/** A task whose model process sits in one call. */
async function blockedTask(): Promise<string> {
  await writeFile(blockade, '');
  const { lmsp } = await http.accept({ max_output_tokens: 20 });
  await http.task(lmsp.task_id, 'running');
  return lmsp.task_id;
}

async function follow(taskId: string): Promise<RawConnection> {
  const connection = await RawConnection.open(http.port);
  connection.send(
    `GET /v1/tasks/${taskId}/events HTTP/1.1`,
    `Host: 127.0.0.1:${http.port}`,
    `Authorization: Bearer ${http.token}`,
    'Accept: text/event-stream',
    'Connection: close',
    '',
    '',
  );
  return connection;
}

const comments = ({ received }: RawConnection): number => received.split(COMMENT).length - 1;

describe('a model that stays in one call (CASES BL-29)', { timeout: 120_000 }, () => {
  it('keeps neither /health, nor the cancel of another task, nor the comments of a stream waiting', async () => {
    const blocked = await blockedTask();
    const waiting = (await http.accept()).lmsp.task_id;
    const streams = await Promise.all([follow(blocked), follow(waiting)]);
    const statuses = new Set<number>();
    await waitFor('two comments on each stream', async () => {
      statuses.add((await http.call('GET', '/health')).status);
      return streams.every((stream) => comments(stream) >= 2);
    });
    const cancelled = await http.call('POST', `/v1/tasks/${waiting}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
    expect([...statuses]).toEqual([200]);
    expect((await http.call('GET', `/v1/tasks/${blocked}`)).body).toMatchObject({
      status: 'running',
      progress: { output_tokens: 0 },
    });
    await unblock();
    await http.task(blocked, 'completed');
    const [whole] = await Promise.all(streams.map((stream) => stream.ends()));
    expect(whole?.split('event: response.output_text.delta').length).toBe(21);
    const firstWord = whole?.indexOf('event: response.output_text.delta') ?? -1;
    expect(whole?.lastIndexOf(COMMENT), 'comments only while nothing happened').toBeLessThan(firstWord);
  });

  it('a cancel of the blocked task itself is answered after LMSP_CANCEL_WAIT_MS, and ends with the call (WIRE B4)', async () => {
    const blocked = await blockedTask();
    const cancelled = await http.call('POST', `/v1/tasks/${blocked}/cancel`);
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelling']);
    await unblock();
    await http.task(blocked, 'cancelled');
    const next = await http.accept({ max_output_tokens: 1 });
    await http.task(next.lmsp.task_id, 'completed');
  });
});
