import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeEngine } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';
import { RawConnection } from '../support/raw-connection.js';
import { SwallowingProxy } from '../support/swallowing-proxy.js';
import { waitFor } from '../support/wait-for.js';

/** Words drawn so far, for each generation. */
let drawn: number[];

/** Says a word for ever. */
function* endless(): Generator<string> {
  const own = drawn.push(0) - 1;
  for (;;) {
    drawn[own]! += 1;
    yield 'word ';
  }
}

let http: HttpApp;
beforeEach(async () => {
  drawn = [];
  http = await HttpApp.start({
    engine: new FakeEngine({ tokens: endless, stepDelayMs: 2 }),
    env: { LMSP_MAX_ROWS: '2', LMSP_STOP_GRACE_SECONDS: '0' },
  });
});
afterEach(() => http.close());

async function post(fields: Record<string, unknown>, port = http.port): Promise<RawConnection> {
  const body = JSON.stringify({ model: 'pocket', input: 'Hello', ...fields });
  const connection = await RawConnection.open(port);
  connection.send(
    'POST /v1/responses HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${http.token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  );
  return connection;
}

async function onlyTask(...statuses: string[]) {
  return waitFor(`the task to be ${statuses.join(' or ')}`, async () => {
    const { data } = (await http.call('GET', '/v1/tasks')).body;
    return statuses.includes(data[0]?.status) ? data[0] : null;
  });
}

describe('a client that leaves (WIRE B3, CASES BL-08)', () => {
  it('takes its foreground task along while it waits for the answer', async () => {
    const connection = await post({});
    await onlyTask('running');
    connection.cut();
    const task = await onlyTask('cancelled');
    expect(http.faults).toEqual([]);
    const response = (await http.call('GET', `/v1/responses/${task.response_id}`)).body;
    expect(response).toMatchObject({ status: 'cancelled', output: [{ status: 'incomplete' }] });
  });

  it('takes its foreground task along while it reads the stream', async () => {
    const connection = await post({ stream: true });
    await connection.receives('response.output_text.delta');
    connection.cut();
    await onlyTask('cancelled');
    await waitFor('the stream to be gone', () => http.streams.count === 0);
    expect(http.faults).toEqual([]);
  });

  it('takes its foreground task along while it waits in the queue', async () => {
    http.engine.hold('loads');
    const connection = await post({});
    await onlyTask('loading', 'queued');
    connection.cut();
    await onlyTask('cancelled');
  });

  it('leaves at the very moment of the commit, and nothing runs on for nobody', async () => {
    for (let round = 0; round < 20; round++) {
      const connection = await post({ stream: round % 2 === 0 });
      for (let turn = 0; turn < round * 5; turn++) await nextTurn();
      connection.cut();
    }
    await waitFor('all tasks to end', async () => {
      const { body } = await http.call('GET', '/v1/tasks?status=queued,loading,running,cancelling');
      return body.data.length === 0;
    });
    const { body } = await http.call('GET', '/v1/tasks?limit=100');
    expect((body.data as { status: string }[]).every(({ status }) => status === 'cancelled')).toBe(true);
  });

  it('leaves its background task running, stream or not', async () => {
    const connection = await post({ stream: true, background: true });
    await connection.receives('response.output_text.delta');
    connection.cut();
    await waitFor('the stream to be gone', () => http.streams.count === 0);
    const task = await onlyTask('running');
    const { last_sequence_number: before } = task;
    await waitFor('the task to go on', async () => {
      const { body } = await http.call('GET', `/v1/tasks/${task.id}`);
      return body.status === 'running' && body.last_sequence_number > before + 5;
    });
    expect((await http.call('POST', `/v1/tasks/${task.id}/cancel`)).body.status).toBe('cancelled');
  });

  it.each([
    ['foreground', 'cancelled'],
    ['background', 'running'],
  ])(
    'is cut when its stream takes nothing for LMSP_STREAM_STALL_SECONDS: its %s task is %s then (BL-08 c)',
    async (kind, status) => {
      await http.close();
      const page = 'w'.repeat(65_536);
      http = await HttpApp.start({
        engine: new FakeEngine({ tokens: () => Array.from({ length: 5000 }, () => page), stepDelayMs: 2 }),
        env: { LMSP_STREAM_STALL_SECONDS: '1' },
      });
      const proxy = await SwallowingProxy.to(http.port);
      try {
        const client = await post({ stream: true, background: kind === 'background' }, proxy.port);
        await client.receives('response.output_text.delta');
        proxy.swallow();
        await waitFor('the stream to be gone', () => http.streams.count === 0);
        const { id } = await onlyTask(status);
        await http.call('POST', `/v1/tasks/${id}/cancel`);
        await onlyTask('cancelled');
        expect(client.closed).toBe(false);
        expect(http.faults).toEqual([]);
      } finally {
        await proxy.close();
      }
    },
  );

  it.each([[true], [false]])('stops a response that is not stored (stream: %s)', async (stream) => {
    const connection = await post({ store: false, stream });
    await waitFor('its first words', () => (drawn[0] ?? 0) > 2);
    connection.cut();
    await http.accept();
    await waitFor('the other to go on without it', async () => {
      const [left, other] = [drawn[0], drawn[1] ?? 0];
      await waitFor('words of the other', () => (drawn[1] ?? 0) > other + 10);
      return drawn[0] === left;
    });
    expect(drawn[0]).toBeLessThan(1000);
    expect(http.faults).toEqual([]);
  });
});

describe('the stop of the service, as clients see it (WIRE B6)', () => {
  it('closes readers bare, fails what is in the foreground, and keeps background work for the next start', async () => {
    const foreground = await post({ stream: true });
    await foreground.receives('response.output_text.delta');
    const reader = await post({ stream: true, background: true });
    await reader.receives('response.output_text.delta');
    await http.stop();
    await Promise.all([foreground.ends(), reader.ends()]);
    expect(reader.received).not.toMatch(/DONE|response\.(completed|failed|cancelled|incomplete)/);
    expect(foreground.received).toContain('event: response.failed');
    expect(foreground.received).toContain('server_shutting_down');
    expect(foreground.received).toContain('data: [DONE]');
    const engine = new FakeEngine({ vocabulary: http.engine.vocabulary });
    const next = await HttpApp.start({ dataDir: http.dataDir, engine });
    const { data } = (await next.call('GET', '/v1/tasks')).body;
    const background = (data as { id: string; background: boolean; status: string }[]).find((task) => task.background);
    expect((await next.task(background?.id ?? '', 'completed')).attempt).toBe(2);
    await next.close();
  });

  it('does not take a connection that closes meanwhile for a client that lost interest', async () => {
    await http.close();
    http = await HttpApp.start({
      engine: new FakeEngine({ tokens: endless, stepDelayMs: 2 }),
      env: { LMSP_STOP_GRACE_SECONDS: '1' },
    });
    const connection = await post({});
    const { id } = await onlyTask('running');
    const stopped = http.stop();
    await waitFor('the stop to begin', () => http.streams.stopping);
    connection.cut();
    await stopped;
    const next = await HttpApp.start({ dataDir: http.dataDir });
    const { body } = await next.call('GET', `/v1/tasks/${id}`);
    expect([body.status, body.error.code]).toEqual(['failed', 'server_shutting_down']);
    await next.close();
  });
});
