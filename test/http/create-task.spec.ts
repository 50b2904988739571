import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TaskTypes } from '../../src/tasks/index.js';
import { CommandLine, type CommandResult } from '../support/command-line.js';
import { CountingType } from '../support/counting-type.js';
import { HttpApp, parseEvents, type Answer } from '../support/http-app.js';

let http: HttpApp;
const counting = new CountingType();
beforeAll(async () => {
  http = await HttpApp.start({ env: { LMSP_MAX_TASK_INPUT_BYTES: '1024', LMSP_MAX_QUEUED_TASKS_PER_CLIENT: '2' } });
  http.app.get(TaskTypes, { strict: false }).register('the test', counting);
});
afterAll(() => http.close());

const create = (fields: Record<string, unknown> = {}, headers?: Record<string, string>): Promise<Answer> =>
  http.call('POST', '/v1/tasks', { type: 'test.count', input: { upTo: 3 }, ...fields }, headers);

describe('POST /v1/tasks (WIRE B2)', () => {
  it('answers 202 with the task as it was accepted; it runs to its end like every other', async () => {
    const { status, headers, body } = await create({ metadata: { a: 'b' } });
    expect([status, headers.get('location'), headers.get('lmsp-task-id'), headers.get('retry-after')]).toEqual([
      202,
      `/v1/tasks/${body.id}`,
      body.id,
      '1',
    ]);
    expect(body).toMatchObject({ object: 'task', type: 'test.count', status: 'queued', background: true, attempt: 0 });
    expect(body).toMatchObject({ on_restart: 'fail', model: null, response_id: null, metadata: { a: 'b' } });
    const ended = await http.task(body.id, 'completed');
    expect(ended).toMatchObject({ result: { counted: 3 }, error: null, attempt: 1, metadata: { a: 'b' } });
    const events = await http.events(`/v1/tasks/${body.id}/events`);
    expect(events.map(({ event }) => event)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
      ...Array<string>(3).fill('test.count.counted'),
      'response.completed',
    ]);
    const last = JSON.parse(events.at(-1)!.data) as { task: unknown; response?: unknown };
    expect(last.task).toMatchObject({ id: body.id, status: 'completed', result: { counted: 3 } });
    expect(last.response).toBeUndefined();
  });

  it.each([
    [{ input: { upTo: 'three' } }, 'invalid_type', 'input.upTo'],
    [{ input: { upTo: 1001 } }, 'invalid_value', 'input.upTo'],
    [{ input: {} }, 'missing_required_parameter', 'input.upTo'],
    [{ input: 'three' }, 'invalid_type', 'input'],
    [{ input: undefined }, 'missing_required_parameter', 'input'],
    [{ type: undefined }, 'missing_required_parameter', 'type'],
    [{ on_restart: 'sometimes' }, 'invalid_value', 'on_restart'],
    [{ metadata: { a: 1 } }, 'invalid_type', 'metadata.a'],
    [{ background: false }, 'unsupported_value', 'background'],
  ])('%j is %s of %s', async (fields, code, param) => {
    expect(await create(fields)).toMatchObject({ status: 400, body: { error: { code, param } } });
  });

  it.each([
    ['response', 'POST /v1/responses'],
    ['model.pull', 'POST /v1/models/pull'],
    ['unheard.of', 'test.count'],
  ])('type %s is an unsupported_value, and the message names %s', async (type, named) => {
    const { status, body } = await create({ type });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_value', 'type']);
    expect(body.error.message).toContain(named);
  });

  it('an input beyond LMSP_MAX_TASK_INPUT_BYTES is 413, whatever of it the type would read', async () => {
    const { status, body } = await create({ input: { upTo: 3, more: 'x'.repeat(1024) } });
    expect([status, body.error.code, body.error.param]).toEqual([413, 'request_too_large', 'input']);
  });

  it('asks for the scope tasks:write, and the task is nobody else’s (CASES BL-39)', async () => {
    const other = { Authorization: `Bearer ${await http.addClient('tasks:read', 'tasks:cancel')}` };
    expect(await create({}, other)).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } });
    const { body } = await create();
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/events'],
      ['POST', '/cancel'],
    ] as const) {
      expect((await http.call(method, `/v1/tasks/${body.id}${path}`, undefined, other)).status).toBe(404);
    }
    await http.task(body.id, 'completed');
  });

  it('a repeat with its Idempotency-Key makes no other task and hears what the first did (WIRE B6)', async () => {
    const key = { 'Idempotency-Key': 'count-once' };
    const all = await Promise.all([create({}, key), create({}, key), create({}, key)]);
    expect(new Set(all.map(({ body }) => body.id)).size).toBe(1);
    await http.task(all[0].body.id, 'completed');
    const late = await create({}, key);
    expect([late.status, late.body, late.headers.get('idempotent-replayed')]).toEqual([202, all[0].body, 'true']);
    expect((await create({ input: { upTo: 4 } }, key)).body.error.code).toBe('idempotency_key_reused');
  });

  it('stays within the limits of the queue, is cancelled atomically, and shows its progress', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    counting.before = () => held;
    const tasks = [await create(), await create()];
    for (const { body } of tasks) await http.task(body.id, 'running');
    tasks.push(await create(), await create());
    expect(await create()).toMatchObject({ status: 429, body: { error: { code: 'queue_full' } } });
    const first = tasks[0]!.body.id as string;
    counting.runs.at(-2)!.progress({ phase: 'held', fraction: 0.5 });
    expect((await http.call('GET', `/v1/tasks/${first}`)).body.progress).toMatchObject({
      phase: 'held',
      load_fraction: 0.5,
    });
    const cancel = http.call('POST', `/v1/tasks/${first}/cancel`);
    await http.task(first, 'cancelling', 'cancelled');
    counting.before = () => undefined;
    release();
    expect((await cancel).body).toMatchObject({ status: 'cancelled', result: null });
    for (const { body } of tasks.slice(1)) await http.task(body.id, 'completed');
    expect(counting.begun.filter((step) => step.startsWith(first))).toEqual([]);
  });

  it('`lmsp tasks create` makes one of JSON that is given or comes in', async () => {
    const lmsp = (parameters: string[], input = ''): Promise<CommandResult> =>
      CommandLine.run(['tasks', 'create', 'test.count', '-o', 'json', ...parameters], {
        dataDir: http.dataDir,
        env: { LMSP_URL: http.url, LMSP_TOKEN: http.token },
        input,
      });
    const made = await lmsp(['--input', '-', '--on-restart', 'resume'], '{"upTo": 2}\n');
    expect([made.code, made.stderr]).toEqual([0, '']);
    const task = JSON.parse(made.stdout) as { id: string; on_restart: string };
    expect(task.on_restart).toBe('resume');
    expect((await http.task(task.id, 'completed')).result).toEqual({ counted: 2 });
    const wrong = await lmsp(['--input', '{upTo: 2}']);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
  });

  it('a page of its events is what its stream says', async () => {
    const { body } = await create({ input: { upTo: 2 } });
    await http.task(body.id, 'completed');
    const page = await http.call('GET', `/v1/tasks/${body.id}/events`);
    const stream = await http.fetch('GET', `/v1/tasks/${body.id}/events`, undefined, { Accept: 'text/event-stream' });
    const events = parseEvents(await stream.text()).map(({ data }) => JSON.parse(data) as unknown);
    expect(page.body.data).toEqual(events);
    expect(page.body.data[3]).toEqual({ type: 'test.count.counted', sequence_number: 3, number: 1 });
  });
});
