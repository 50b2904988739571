import type { Type } from '@nestjs/common';
import { afterEach, describe, expect, it } from 'vitest';
import { ResponseAcceptance } from '../../src/responses/response-acceptance.js';
import { ResponseRequests } from '../../src/responses/response-requests.js';
import { TaskRunner } from '../../src/tasks/index.js';
import { BROKEN, FakeEngine } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;

function creation() {
  const find = <T>(type: Type<T>): T => http.app.get(type, { strict: false });
  return { requests: find(ResponseRequests), acceptance: find(ResponseAcceptance) };
}

afterEach(() => http.close());

describe('the queue is bounded (WIRE B9, 429)', () => {
  it('takes exactly as many as may wait, however many come at once', async () => {
    // No rows: nothing is claimed.
    http = await HttpApp.start({ env: { LMSP_MAX_ROWS: '0', LMSP_MAX_QUEUED_TASKS: '3' } });
    const answers = await Promise.all(Array.from({ length: 10 }, () => http.create({ background: true })));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(3);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(7);
    expect(refused[0]?.body.error.code).toBe('queue_full');
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await http.call('GET', '/v1/tasks')).body.data).toHaveLength(3);
  });

  it('counts those that share a commit, too', async () => {
    http = await HttpApp.start({ env: { LMSP_MAX_ROWS: '0', LMSP_MAX_QUEUED_TASKS: '3' } });
    const { requests, acceptance } = creation();
    const { client_id: client } = (await http.call('GET', `/v1/tasks/${(await http.accept()).lmsp.task_id}`)).body;
    const make = () => requests.prepare({ model: 'pocket', input: 'x', background: true }, client as string);
    const drafts = await Promise.all(Array.from({ length: 8 }, make));
    const outcomes = await Promise.allSettled(drafts.map((draft) => acceptance.accept(draft)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect((await http.call('GET', '/v1/tasks')).body.data).toHaveLength(3);
  });

  it('takes no foreground work once a stop has ended the claims, which nobody would answer (WIRE B6); background waits on', async () => {
    http = await HttpApp.start();
    await http.app.get(TaskRunner, { strict: false }).stopClaiming();
    const refused = await http.create();
    expect([refused.status, refused.body.error.code]).toEqual([503, 'server_shutting_down']);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    const { lmsp } = await http.accept();
    expect((await http.call('GET', '/v1/tasks')).body.data).toMatchObject([{ id: lmsp.task_id, status: 'queued' }]);
  });

  it('bounds each client by itself', async () => {
    http = await HttpApp.start({ env: { LMSP_MAX_ROWS: '0', LMSP_MAX_QUEUED_TASKS_PER_CLIENT: '1' } });
    await http.accept();
    expect((await http.create({ background: true })).body.error.code).toBe('queue_full');
    const [waiting] = (await http.call('GET', '/v1/tasks')).body.data as { id: string }[];
    await http.call('POST', `/v1/tasks/${waiting?.id}/cancel`);
    await http.accept();
  });

  it('refuses a stream that finds no place without leaving a task behind', async () => {
    http = await HttpApp.start({ env: { LMSP_MAX_STREAMS: '1' } });
    http.engine.hold('steps');
    const stream = await http.fetch('POST', '/v1/responses', { model: 'pocket', input: 'x', stream: true });
    const refused = await http.create({ stream: true });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect((await http.call('GET', '/v1/tasks')).body.data).toHaveLength(1);
    http.engine.release('steps');
    await stream.text();
  });
});

describe('the context of the model is bounded (CASES BL-25)', () => {
  const limit = 2048;

  /** A user message of exactly so many tokens, template included. */
  async function inputOf(tokens: number): Promise<string> {
    const probe = async (text: string): Promise<number> =>
      (await http.create({ input: text, max_output_tokens: 1 })).body.usage.input_tokens as number;
    const [one, two] = [await probe('a\n'.repeat(10)), await probe('a\n'.repeat(20))];
    const each = (two - one) / 10;
    const frame = one - 10 * each;
    expect(Number.isInteger(each)).toBe(true);
    const count = Math.floor((tokens - frame) / each);
    return 'a\n'.repeat(count) + 'b'.repeat(tokens - frame - count * each);
  }

  it('takes a prompt one token below the limit and refuses one at, over and far over it with both numbers', async () => {
    http = await HttpApp.start();
    const below = await http.create({ input: await inputOf(limit - 1), max_output_tokens: 5 });
    expect(below.body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(below.body.usage).toMatchObject({ input_tokens: limit - 1, output_tokens: 1 });
    for (const tokens of [limit, limit + 1, limit * 10]) {
      const { status, body } = await http.create({ input: await inputOf(tokens), background: true });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'context_length_exceeded', 'input']);
      expect(body.error.message).toContain(`${tokens} tokens`);
      expect(body.error.message).toContain(`${limit} tokens`);
    }
  });

  it('takes a prompt whose answer may not fit, and ends it by length', async () => {
    http = await HttpApp.start();
    const { status, body } = await http.create({ max_output_tokens: 1_000_000 });
    expect([status, body.status, body.max_output_tokens]).toEqual([200, 'completed', 1_000_000]);
    expect(http.engine.requests.at(-1)?.maxOutputTokens).toBe(limit - body.usage.input_tokens);
  });
});

describe('failures', () => {
  it('of the model become the error of a foreground request, and stand in the stored response', async () => {
    http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => ['some', BROKEN] }) });
    const { status, headers, body } = await http.create();
    expect([status, body.error.type, body.error.code]).toEqual([500, 'model_error', 'model_error']);
    expect(headers.get('x-should-retry')).toBe('false');
    const [task] = (await http.call('GET', '/v1/tasks')).body.data as { response_id: string; error: object }[];
    expect(task?.error).toMatchObject({ code: 'model_error' });
    const stored = (await http.call('GET', `/v1/responses/${task?.response_id}`)).body;
    expect(stored).toMatchObject({ status: 'failed', error: { code: 'model_error' } });
    expect(headers.get('lmsp-task-id')).toBe(stored.lmsp.task_id);
  });

  it('of a response that is not stored are the same error, as an answer and as the last events', async () => {
    http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => ['some', BROKEN] }) });
    expect((await http.create({ store: false })).body.error.code).toBe('model_error');
    const stream = await http.fetch('POST', '/v1/responses', {
      model: 'pocket',
      input: 'x',
      store: false,
      stream: true,
    });
    const text = await stream.text();
    expect(text).toMatch(/event: error\n.*"code":"model_error"/);
    expect(text).toMatch(/event: response.failed\n.*\n\ndata: \[DONE\]\n\n$/);
  });

  it('refuses everything but the probes while the service stops', async () => {
    http = await HttpApp.start();
    http.engine.hold('steps');
    const waiting = http.create();
    await waitFor('the task', async () => (await http.call('GET', '/v1/tasks?status=running')).body.data.length === 1);
    const stopping = http.stop();
    await waitFor('the refusal', async () => {
      const { status, body } = await http.create().catch(() => ({ status: 503, body: null }));
      return status === 503 && (body === null || body.error.code === 'server_shutting_down');
    });
    http.engine.release('steps');
    expect((await waiting).body.status).toBe('completed');
    await stopping;
  });
});
