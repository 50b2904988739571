import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp, parseEvents } from '../support/http-app.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ env: { LMSP_MAX_ROWS: '1' } });
});
afterAll(() => http.close());

async function completed(fields: Record<string, unknown> = {}): Promise<string> {
  const { lmsp } = await http.accept(fields);
  await http.task(lmsp.task_id, 'completed');
  return lmsp.task_id;
}

describe('GET /v1/tasks/{id} (WIRE B4)', () => {
  it('shows every field of an ended task', async () => {
    const id = await completed({ metadata: { a: 'b' } });
    const { headers, body } = await http.call('GET', `/v1/tasks/${id}`);
    expect(headers.get('lmsp-task-id')).toBe(id);
    expect(body).toEqual({
      id,
      object: 'task',
      type: 'response',
      client_id: expect.stringMatching(/^cli_/),
      response_id: `resp_${id.slice('task_'.length)}`,
      model: 'pocket',
      result: null,
      status: 'completed',
      on_restart: 'resume',
      background: true,
      attempt: 1,
      interruptions: 0,
      max_interruptions: 3,
      last_sequence_number: expect.any(Number),
      queue_position: null,
      queue_ahead_seconds: null,
      progress: { phase: 'completed', load_fraction: null, prompt_tokens: null, output_tokens: 0 },
      error: null,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      started_at: expect.any(Number),
      finished_at: expect.any(Number),
      cancel_requested_at: null,
      expires_at: body.finished_at + 604_800,
      poll_interval_ms: 0,
      metadata: { a: 'b' },
    });
  });

  it('tells a waiting task its place, and a running one its progress', async () => {
    http.engine.hold('steps');
    const [first, second, third] = [await http.accept(), await http.accept(), await http.accept()];
    const running = await http.task(first.lmsp.task_id, 'running');
    expect([running.poll_interval_ms, running.queue_position]).toEqual([500, null]);
    const place = async (id: string): Promise<number> =>
      (await http.call('GET', `/v1/tasks/${id}`)).body.queue_position;
    expect([await place(second.lmsp.task_id), await place(third.lmsp.task_id)]).toEqual([0, 1]);
    http.engine.release('steps');
    await http.task(third.lmsp.task_id, 'completed');
  });
});

describe('GET /v1/tasks', () => {
  it('lists newest first in pages without gap or overlap', async () => {
    const made = [];
    for (let i = 0; i < 5; i++) made.push(await completed());
    const seen: string[] = [];
    let after = '';
    do {
      const { body } = await http.call('GET', `/v1/tasks?limit=2${after}`);
      seen.push(...(body.data as { id: string }[]).map(({ id }) => id));
      expect(body.last_id).toBe(seen.at(-1));
      after = body.has_more ? `&after=${body.last_id}` : '';
    } while (after !== '');
    expect(seen.slice(0, 5)).toEqual(made.reverse());
    expect(new Set(seen).size).toBe(seen.length);
    const { body } = await http.call('GET', '/v1/tasks?order=asc&limit=100');
    expect((body.data as { id: string }[]).map(({ id }) => id)).toEqual(seen.reverse());
  });

  it('filters by a list of statuses and by model', async () => {
    await completed();
    const count = async (query: string): Promise<number> =>
      (await http.call('GET', `/v1/tasks?${query}`)).body.data.length;
    expect(await count('status=completed,failed&model=pocket')).toBeGreaterThan(0);
    expect(await count('status=queued,running')).toBe(0);
    expect(await count('model=nobody')).toBe(0);
  });

  it.each([
    ['status=lost', 'status'],
    ['limit=101', 'limit'],
    ['order=random', 'order'],
  ])('refuses %s and names it', async (query, param) => {
    const { status, body } = await http.call('GET', `/v1/tasks?${query}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', param]);
  });

  it('refuses a page behind a task that does not exist', async () => {
    const { status, body } = await http.call('GET', '/v1/tasks?after=task_nobody');
    expect([status, body.error.code]).toEqual([400, 'invalid_cursor']);
  });
});

describe('GET /v1/tasks/{id}/events', () => {
  it('gives pages of JSON, byte for byte what the stream sends (invariant 9)', async () => {
    const id = await completed();
    const stream = await http.events(`/v1/tasks/${id}/events`);
    const texts: string[] = [];
    let cursor = -1;
    for (let more = true; more; cursor = texts.length - 1) {
      const answer = await http.fetch('GET', `/v1/tasks/${id}/events?limit=3&starting_after=${cursor}`);
      const text = await answer.text();
      const page = JSON.parse(text) as { object: string; data: unknown[]; has_more: boolean };
      expect(page.object).toBe('list');
      expect(text).toContain(
        stream
          .slice(cursor + 1, cursor + 1 + page.data.length)
          .map(({ data }) => data)
          .join(','),
      );
      texts.push(...page.data.map((event) => JSON.stringify(event)));
      more = page.has_more;
    }
    expect(texts).toEqual(stream.map(({ data }) => data));
  });

  it('streams with ids and a reconnect hint, without [DONE]', async () => {
    const id = await completed();
    const response = await http.fetch('GET', `/v1/tasks/${id}/events`, undefined, { Accept: 'text/event-stream' });
    const text = await response.text();
    expect(text.startsWith('retry: 2000\n\nid: 0\nevent: response.created\ndata: {"type":"response.created"')).toBe(
      true,
    );
    expect(text).not.toContain('[DONE]');
    const events = parseEvents(text);
    expect(events.map((event) => event.id)).toEqual(events.map((_, index) => String(index)));
    expect(response.headers.get('lmsp-task-id')).toBe(id);
  });

  it('resumes behind Last-Event-ID, which wins over the cursor of the repeated URL (WIRE-FACTS A4)', async () => {
    const id = await completed();
    const whole = await http.events(`/v1/tasks/${id}/events`);
    for (let last = 0; last < whole.length - 1; last++) {
      const path = `/v1/tasks/${id}/events?starting_after=0`;
      expect(await http.events(path, { 'Last-Event-ID': String(last) })).toEqual(whole.slice(last + 1));
    }
    expect(await http.events(`/v1/tasks/${id}/events?starting_after=2`)).toEqual(whole.slice(3));
  });

  it('answers 204 once nothing is left, so that clients stop reconnecting', async () => {
    const id = await completed();
    const { last_sequence_number: last } = (await http.call('GET', `/v1/tasks/${id}`)).body;
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': String(last) };
    const response = await http.fetch('GET', `/v1/tasks/${id}/events`, undefined, headers);
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  it.each(['abc', '9007199254740992', '-2', '100000'])('refuses the cursor %s on every path', async (cursor) => {
    const path = `/v1/tasks/${await completed()}/events`;
    const sse = { Accept: 'text/event-stream' };
    const answers = [
      await http.call('GET', `${path}?starting_after=${cursor}`),
      await http.call('GET', `${path}?starting_after=${cursor}`, undefined, sse),
      await http.call('GET', path, undefined, { ...sse, 'Last-Event-ID': cursor }),
    ];
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(
      Array(3).fill([400, 'invalid_cursor']),
    );
  });

  it.each(['0', '1001', 'x'])('refuses the limit %s', async (limit) => {
    const { status } = await http.call('GET', `/v1/tasks/${await completed()}/events?limit=${limit}`);
    expect(status).toBe(400);
  });
});

describe('POST /v1/tasks/{id}/cancel', () => {
  it('cancels a waiting task at once, and again', async () => {
    http.engine.hold('steps');
    const first = await http.accept();
    await http.task(first.lmsp.task_id, 'running');
    const { lmsp } = await http.accept();
    for (let i = 0; i < 2; i++) {
      const { status, body } = await http.call('POST', `/v1/tasks/${lmsp.task_id}/cancel`);
      expect([status, body.status]).toEqual([200, 'cancelled']);
    }
    http.engine.release('steps');
    await http.task(first.lmsp.task_id, 'completed');
    const events = await http.events(`/v1/tasks/${lmsp.task_id}/events`);
    expect(events.map(({ event }) => event)).toEqual(['response.created', 'response.queued', 'response.cancelled']);
  });

  it('refuses one that has completed', async () => {
    const { status, body } = await http.call('POST', `/v1/tasks/${await completed()}/cancel`);
    expect([status, body.error.code]).toEqual([400, 'task_not_cancellable']);
  });
});

describe('missing ids', () => {
  it.each([
    ['GET', ''],
    ['GET', '/events'],
    ['POST', '/cancel'],
  ])('%s /v1/tasks/task_nobody%s is 404 task_not_found', async (method, rest) => {
    const { status, body } = await http.call(method, `/v1/tasks/task_nobody${rest}`);
    expect([status, body.error.code]).toEqual([404, 'task_not_found']);
  });
});
