import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import { DomainError, ERROR_CODES, type ErrorCode } from '../../src/errors/index.js';
import { TaskRecorders, type TaskRecorder } from '../../src/tasks/index.js';
import { HttpApp, type Answer } from '../support/http-app.js';

/** Status of each code that one request brings about, and the request (WIRE B9). */
type Cause = (http: HttpApp) => Promise<Answer>;

const create =
  (fields: Record<string, unknown>, headers?: Record<string, string>): Cause =>
  (http) =>
    http.create(fields, headers);
const get =
  (path: string, headers?: Record<string, string>): Cause =>
  (http) =>
    http.call('GET', path, undefined, headers);
const post =
  (path: string, body?: unknown): Cause =>
  (http) =>
    http.call('POST', path, body);

async function raw(http: HttpApp, body: string, type = 'application/json'): Promise<Answer> {
  const headers = { Authorization: `Bearer ${http.token}`, 'Content-Type': type };
  const response = await fetch(`${http.url}/v1/responses`, { method: 'POST', headers, body });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const ended: Cause = async (http) => (await http.create()).body;
const endedId = async (http: HttpApp): Promise<string> => ((await ended(http)) as unknown as { id: string }).id;
const taskOf = (id: string): string => id.replace('resp_', 'task_');

/** A response that waits before its first step, for as long as `then` takes. */
async function whileRunning(http: HttpApp, then: (id: string, taskId: string) => Promise<Answer>): Promise<Answer> {
  http.engine.hold('steps');
  const { id, lmsp } = await http.accept();
  await http.task(lmsp.task_id, 'running');
  const answer = await then(id, lmsp.task_id);
  http.engine.release('steps');
  await http.task(lmsp.task_id, 'completed', 'cancelled');
  return answer;
}

/** Fails at the claim of a task whose metadata say so. */
const unlessUnrecorded: TaskRecorder = {
  record: (_tx, { command, task }) =>
    command.startsWith('start') && task.metadata.unrecorded === 'yes'
      ? Promise.reject(new Error('not recorded'))
      : Promise.resolve(),
};

const CAUSES: Partial<Record<ErrorCode, [number, Cause]>> = {
  invalid_value: [400, create({ temperature: 9 })],
  invalid_type: [400, create({ temperature: 'warm' })],
  missing_required_parameter: [400, post('/v1/responses', { model: 'pocket' })],
  unsupported_parameter: [400, create({ conversation: 'conv_1' })],
  unsupported_value: [400, create({ truncation: 'auto' })],
  invalid_json: [400, (http) => raw(http, '{:')],
  context_length_exceeded: [400, create({ input: 'word '.repeat(20_000) })],
  previous_response_not_found: [400, create({ previous_response_id: 'resp_none' })],
  item_not_found: [400, create({ input: [{ type: 'item_reference', id: 'msg_none' }] })],
  background_requires_store: [400, create({ background: true, store: false })],
  response_not_cancellable: [400, async (http) => http.call('POST', `/v1/responses/${await endedId(http)}/cancel`)],
  task_not_cancellable: [400, async (http) => http.call('POST', `/v1/tasks/${taskOf(await endedId(http))}/cancel`)],
  invalid_cursor: [
    400,
    async (http) => http.call('GET', `/v1/tasks/${taskOf(await endedId(http))}/events?starting_after=999`),
  ],
  invalid_idempotency_key: [400, create({}, { 'Idempotency-Key': 'k'.repeat(300) })],
  missing_api_key: [401, get('/v1/models', { Authorization: '' })],
  invalid_api_key: [401, get('/v1/models', { Authorization: 'Bearer wrong' })],
  insufficient_scope: [
    403,
    async (http) => {
      const token = await http.addClient('models:read');
      return http.create({}, { Authorization: `Bearer ${token}` });
    },
  ],
  origin_not_allowed: [403, get('/v1/models', { Origin: 'https://elsewhere.example' })],
  model_not_found: [404, create({ model: 'none' })],
  response_not_found: [404, get('/v1/responses/resp_none')],
  task_not_found: [404, get('/v1/tasks/task_none')],
  client_not_found: [404, get('/v1/clients/cli_none')],
  pairing_not_found: [404, post('/v1/pairings/BCDF-GHJK/deny')],
  unknown_url: [404, get('/v1/files')],
  method_not_allowed: [405, (http) => http.call('PUT', '/v1/models', {})],
  response_in_progress: [409, (http) => whileRunning(http, (id) => http.call('DELETE', `/v1/responses/${id}`))],
  model_in_use: [409, (http) => whileRunning(http, () => http.call('POST', '/v1/models/unload', { model: 'pocket' }))],
  model_exists: [
    409,
    post('/v1/models', {
      id: 'pocket',
      type: 'llm',
      source: { type: 'directory', path: join(packageRoot(), 'models/pocket') },
    }),
  ],
  idempotency_in_progress: [
    409,
    async (http) => {
      http.engine.hold('steps');
      const first = http.create({}, { 'Idempotency-Key': 'table' });
      const held = (): Promise<Answer> => http.create({}, { 'Idempotency-Key': 'table' });
      let second = await held();
      while (second.status !== 409) second = await held();
      http.engine.release('steps');
      await first;
      return second;
    },
  ],
  last_owner: [
    409,
    async (http) => {
      const { body } = await http.call('GET', '/v1/clients/me');
      return http.call('DELETE', `/v1/clients/${body.id}`);
    },
  ],
  idempotency_key_reused: [
    422,
    async (http) => {
      await http.create({}, { 'Idempotency-Key': 'again' });
      return http.create({ temperature: 0 }, { 'Idempotency-Key': 'again' });
    },
  ],
  request_too_large: [413, (http) => raw(http, JSON.stringify({ input: 'x'.repeat(9_000_000) }))],
  unsupported_media_type: [415, (http) => raw(http, 'model=pocket', 'text/plain')],
  recorder_failed: [500, create({ metadata: { unrecorded: 'yes' } })],
  model_load_failed: [
    500,
    async (http) => {
      await http.call('POST', '/v1/models/unload', { model: 'pocket' });
      http.engine.failLoads(new DomainError('model_load_failed', 'the graph cannot be read'));
      const answer = await http.call('POST', '/v1/models/load', { model: 'pocket' });
      http.engine.failLoads(null);
      return answer;
    },
  ],
};

/** What needs a world of its own is produced by a real request in these files. */
const ELSEWHERE: Partial<Record<ErrorCode, string>> = {
  token_expired: 'test/http/edge.spec.ts',
  host_not_allowed: 'test/http/callers.spec.ts',
  idempotency_not_replayable: 'test/http/clients.spec.ts',
  pairing_decided: 'test/http/pairing.spec.ts',
  event_log_expired: 'test/http/retention.spec.ts',
  queue_full: 'test/http/limits.spec.ts',
  rate_limit_exceeded: 'test/http/rate-limits.spec.ts',
  server_error: 'test/http/edge.spec.ts',
  model_error: 'test/http/runner-loss.spec.ts',
  retry_limit_exceeded: 'test/recovery/retry-limit.spec.ts',
  server_restarted: 'test/recovery/restart-table.spec.ts',
  server_shutting_down: 'test/http/foreground-ownership.spec.ts',
  service_recovering: 'test/http/operations.spec.ts',
  insufficient_resources: 'test/http/memory-budget.spec.ts',
  storage_busy: 'test/http/storage-busy.spec.ts',
  storage_full: 'test/http/storage-full.spec.ts',
  model_unavailable: 'test/http/runner-loss.spec.ts',
  model_digest_mismatch: 'test/http/model-files.spec.ts',
  model_unsupported: 'test/http/model-registry.spec.ts',
  task_timeout: 'test/http/embeddings-waiting.spec.ts',
  queue_timeout: 'test/http/queue-timeout.spec.ts',
};

/** Codes that WIRE B9 does not have: of /oauth (RFC 6749, 7009, 8628), of pulls, of the operator's routes. */
const OF_OTHER_TABLES =
  /^(?:invalid_(?:request|grant|scope|client)|unsupported_(?:grant|token)_type|authorization_pending|slow_down|access_denied|expired_token|hub_.*|pull_.*|retention_in_progress)$/;

describe('the table of errors (WIRE B9)', () => {
  let http: HttpApp;
  beforeAll(async () => {
    http = await HttpApp.start();
    http.app.get(TaskRecorders, { strict: false }).register('the test', unlessUnrecorded);
  });
  afterAll(() => http.close());

  it.each(Object.entries(CAUSES))('%s', async (code, [status, cause]) => {
    const answer = await cause(http);
    expect(answer).toMatchObject({
      status,
      body: { error: { code, type: ERROR_CODES[code as ErrorCode].type, message: expect.any(String) as string } },
    });
    expect(Object.keys(answer.body.error).sort()).toEqual(['code', 'message', 'param', 'type']);
    if (status === 409) expect(answer.headers.get('x-should-retry')).toBe(String(code === 'idempotency_in_progress'));
  });

  it.each(Object.entries(ELSEWHERE))('%s: %s', async (code, file) => {
    expect(await readFile(join(packageRoot(), file), 'utf8')).toContain(`'${code}'`);
  });

  it('has no code without a cause', () => {
    const caused = { ...CAUSES, ...ELSEWHERE };
    const missing = Object.keys(ERROR_CODES).filter((code) => !(code in caused) && !OF_OTHER_TABLES.test(code));
    expect(missing).toEqual([]);
  });
});
