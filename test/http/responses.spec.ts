import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

/** A response that runs and has said its first word. */
async function running(fields: Record<string, unknown> = {}): Promise<{ id: string; taskId: string }> {
  http.engine.hold('steps');
  const { id, lmsp } = await http.accept(fields);
  await http.task(lmsp.task_id, 'running');
  return { id, taskId: lmsp.task_id };
}

async function completed(): Promise<{ id: string; taskId: string }> {
  const { id, lmsp } = await http.accept();
  await http.task(lmsp.task_id, 'completed');
  return { id, taskId: lmsp.task_id };
}

describe('GET /v1/responses/{id}', () => {
  it('shows what has been written so far, then the end', async () => {
    const { id, taskId } = await running();
    http.engine.step(2);
    const partial = await http.task(taskId, 'running');
    expect(partial.status).toBe('running');
    const { body } = await http.call('GET', `/v1/responses/${id}`);
    expect(body).toMatchObject({ status: 'in_progress', usage: null, lmsp: { task_status: 'running' } });
    http.engine.release('steps');
    await http.task(taskId, 'completed');
    const ended = (await http.call('GET', `/v1/responses/${id}`)).body;
    expect(ended).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'Hello, world!' }] }] });
    expect(ended.completed_at).toBeGreaterThanOrEqual(ended.created_at);
  });

  it('streams from any cursor the tail of the whole log, then [DONE] (WIRE B5)', async () => {
    const { id } = await completed();
    const whole = await http.events(`/v1/responses/${id}?stream=true`);
    const numbers = whole
      .slice(0, -1)
      .map(({ data }) => (JSON.parse(data) as { sequence_number: number }).sequence_number);
    for (const cursor of [-1, ...numbers]) {
      const tail = await http.events(`/v1/responses/${id}?stream=true&starting_after=${cursor}&include=x`);
      expect(tail).toEqual(whole.slice(cursor + 1));
    }
    expect(whole.at(-1)).toEqual({ id: null, event: null, data: '[DONE]' });
  });

  it.each(['abc', '9007199254740992', '-2', '', '1e1', '999'])('refuses the cursor %j', async (cursor) => {
    const { id } = await completed();
    const { status, body } = await http.call('GET', `/v1/responses/${id}?stream=true&starting_after=${cursor}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_cursor', 'starting_after']);
  });

  it('refuses a stream flag that is neither true nor false', async () => {
    const { id } = await completed();
    expect((await http.call('GET', `/v1/responses/${id}?stream=yes`)).body.error.param).toBe('stream');
  });

  it('follows a running response to its end', async () => {
    const { id } = await running();
    const reading = http.events(`/v1/responses/${id}?stream=true`);
    http.engine.release('steps');
    const events = await reading;
    expect(events.at(-2)?.event).toBe('response.completed');
    expect(events.at(-1)?.data).toBe('[DONE]');
  });
});

describe('DELETE /v1/responses/{id}', () => {
  it('takes the task and the events along', async () => {
    const { id, taskId } = await completed();
    const { status, body } = await http.call('DELETE', `/v1/responses/${id}`);
    expect([status, body]).toEqual([200, { id, object: 'response', deleted: true }]);
    expect((await http.call('GET', `/v1/responses/${id}`)).body.error.code).toBe('response_not_found');
    expect((await http.call('GET', `/v1/tasks/${taskId}`)).body.error.code).toBe('task_not_found');
    expect((await http.call('DELETE', `/v1/responses/${id}`)).status).toBe(404);
    const left = await http.store.reader.query('select 1 from task_events where task_id = ?', [taskId]);
    expect(left).toEqual([]);
  });

  it('refuses an unfinished one, and tells SDKs not to repeat', async () => {
    const { id, taskId } = await running();
    const { status, headers, body } = await http.call('DELETE', `/v1/responses/${id}`);
    expect([status, body.error.code, headers.get('x-should-retry')]).toEqual([409, 'response_in_progress', 'false']);
    http.engine.release('steps');
    await http.task(taskId, 'completed');
  });
});

describe('POST /v1/responses/{id}/cancel (WIRE B4)', () => {
  it('cancels a running response and answers with the same object ever after', async () => {
    const { id, taskId } = await running();
    const first = await http.call('POST', `/v1/responses/${id}/cancel`);
    expect([first.status, first.body.status]).toEqual([200, 'cancelled']);
    expect(first.headers.get('lmsp-task-id')).toBe(taskId);
    const again = await http.call('POST', `/v1/responses/${id}/cancel`);
    expect([again.status, again.body]).toEqual([200, first.body]);
    http.engine.release('steps');
    const types = (await http.events(`/v1/responses/${id}?stream=true`)).map(({ event }) => event);
    expect(types.filter((type) => type === 'response.cancelled')).toHaveLength(1);
    expect(types.at(-2)).toBe('response.cancelled');
  });

  it('refuses a completed one with 400, which no SDK repeats', async () => {
    const { id } = await completed();
    const { status, body } = await http.call('POST', `/v1/responses/${id}/cancel`);
    expect([status, body.error.code]).toEqual([400, 'response_not_cancellable']);
  });

  it('lets the waiting create answer 200 with the cancelled response', async () => {
    http.engine.hold('steps');
    const waiting = http.create();
    const task = await waitFor('the foreground task', async () => {
      const { data } = (await http.call('GET', '/v1/tasks?status=running')).body;
      return (data as { background: boolean; response_id: string }[]).find(({ background }) => !background);
    });
    await http.call('POST', `/v1/responses/${task.response_id}/cancel`);
    const { status, body } = await waiting;
    expect([status, body.status]).toEqual([200, 'cancelled']);
    http.engine.release('steps');
  });
});

describe('GET /v1/responses/{id}/input_items', () => {
  it('pages through the items, newest first unless asked otherwise', async () => {
    const input = ['a', 'b', 'c', 'd', 'e'].map((text) => ({ role: 'user', content: text }));
    const { id } = await http.accept({ input });
    const path = `/v1/responses/${id}/input_items`;
    const texts = (body: { data: { content: { text: string }[] }[] }) => body.data.map((item) => item.content[0]?.text);
    const first = (await http.call('GET', `${path}?limit=2`)).body;
    expect([texts(first), first.has_more, first.object]).toEqual([['e', 'd'], true, 'list']);
    expect([first.first_id, first.last_id]).toEqual([first.data[0].id, first.data[1].id]);
    const next = (await http.call('GET', `${path}?limit=3&after=${first.last_id}`)).body;
    expect([texts(next), next.has_more]).toEqual([['c', 'b', 'a'], false]);
    expect(texts((await http.call('GET', `${path}?order=asc`)).body)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it.each([
    ['limit=0', 'invalid_value', 'limit'],
    ['limit=101', 'invalid_value', 'limit'],
    ['order=up', 'invalid_value', 'order'],
    ['after=msg_nobody', 'invalid_cursor', 'after'],
  ])('refuses %s', async (query, code, param) => {
    const { id } = await http.accept();
    const { status, body } = await http.call('GET', `/v1/responses/${id}/input_items?${query}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });
});

describe('missing ids', () => {
  it.each([
    ['GET', ''],
    ['GET', '?stream=true'],
    ['GET', '/input_items'],
    ['DELETE', ''],
    ['POST', '/cancel'],
  ])('%s /v1/responses/resp_nobody%s is 404 response_not_found', async (method, rest) => {
    const { status, body } = await http.call(method, `/v1/responses/resp_nobody${rest}`);
    expect([status, body.error.code]).toEqual([404, 'response_not_found']);
  });
});
