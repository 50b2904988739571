import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fingerprintOf, type KeyedRequest } from '../../../src/http/index.js';
import { insertClient } from '../../support/store.js';
import { TaskLab, type Found } from '../../support/task-lab.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open();
});
afterEach(() => lab.close());

function request(overrides: Partial<KeyedRequest> = {}): KeyedRequest {
  return {
    clientId: 'cli_test',
    method: 'POST',
    route: '/v1/tasks',
    key: 'k',
    fingerprint: fingerprintOf({ a: 1 }, {}),
    ...overrides,
  };
}

interface Row {
  task_id: string;
  created_at: number;
  expires_at: number;
}

const rows = (): Promise<Row[]> =>
  lab.store.reader.query<Row>('select task_id, created_at, expires_at from idempotency_keys order by key');

const expire = (): Promise<unknown> => lab.write((tx) => tx.execute('UPDATE idempotency_keys SET expires_at = 1'));

describe('a key and its task (WIRE B6, row "first"; R1)', () => {
  it('are on disk together', async () => {
    const { id } = await lab.create({ keyed: request() });
    expect((await rows()).map((row) => row.task_id)).toEqual([id]);
    expect((await lab.keys.find(request()))?.id).toBe(id);
  });

  it('fail together: a task that cannot be written leaves no key', async () => {
    const { id } = await lab.create();
    await expect(lab.create({ id, keyed: request() })).rejects.toThrow('UNIQUE');
    expect(await rows()).toEqual([]);
  });

  it('fail together: a key that another task holds leaves no task', async () => {
    await lab.create({ keyed: request() });
    const draft = lab.draft({ keyed: request() });
    await expect(lab.write((tx) => lab.lifecycle.enqueue(tx, [draft]))).rejects.toThrow('another task');
    expect(await lab.queries.find(draft.id, 'cli_test')).toBeNull();
  });

  it('go together when the task is deleted (row "response deleted")', async () => {
    const { id } = await lab.bring('completed', { keyed: request() });
    await lab.write((tx) => lab.lifecycle.remove(tx, id));
    expect(await rows()).toEqual([]);
  });
});

describe('the lookup (WIRE B6, row "lookup key")', () => {
  it('is per client, method, route and key', async () => {
    await lab.write((tx) => insertClient(tx, 'cli_other'));
    const { id } = await lab.create({ keyed: request() });
    for (const other of [{ clientId: 'cli_other' }, { method: 'PUT' }, { route: '/v1/responses' }, { key: 'K' }]) {
      expect(await lab.keys.find(request(other))).toBeNull();
    }
    const own = await lab.create({ clientId: 'cli_other', keyed: request({ clientId: 'cli_other' }) });
    expect((await lab.keys.find(request({ clientId: 'cli_other' })))?.id).toBe(own.id);
    expect((await lab.keys.find(request()))?.id).toBe(id);
  });

  it('refuses another request under the same key', async () => {
    await lab.create({ keyed: request() });
    const other = request({ fingerprint: fingerprintOf({ a: 2 }, {}) });
    await expect(lab.keys.find(other)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('takes keys for what they are, whatever SQL or JSON they hold', async () => {
    for (const key of [`'; drop table tasks; --`, '{"a":[1]}', '%_', '\\"']) {
      const { id } = await lab.create({ keyed: request({ key }) });
      expect((await lab.keys.find(request({ key })))?.id).toBe(id);
    }
  });
});

describe('what becomes of a key at the end of its task (WIRE B6, rows "stored" and "expiry")', () => {
  it.each<[boolean, Found, boolean]>([
    [true, 'completed', true],
    [true, 'failed', true],
    [true, 'cancelled', true],
    [false, 'completed', true],
    [false, 'failed', false],
    [false, 'cancelled', false],
  ])('background %s, %s: kept %s', async (background, status, kept) => {
    await lab.bring(status, { background, keyed: request() });
    expect(await rows()).toHaveLength(kept ? 1 : 0);
  });

  it('never expires while the task is unfinished, then a day after its creation', async () => {
    const task = await lab.bring('running', { keyed: request() });
    expect((await rows())[0]?.expires_at).toBe(Number.MAX_SAFE_INTEGER);
    const claim = { taskId: task.id, attempt: task.attempt, owner: task.owner ?? '' };
    await lab.write((tx) => lab.lifecycle.complete(tx, claim, null));
    const [row] = await rows();
    expect(row?.expires_at).toBe((row?.created_at ?? 0) + DAY_MS);
  });

  it('stays for an hour after the end of a task that took longer than that', async () => {
    const task = await lab.bring('running', { keyed: request() });
    await lab.write((tx) => tx.execute('UPDATE idempotency_keys SET created_at = 1'));
    const claim = { taskId: task.id, attempt: task.attempt, owner: task.owner ?? '' };
    const { finishedAt } = await lab.write((tx) => lab.lifecycle.complete(tx, claim, null));
    expect((await rows())[0]?.expires_at).toBe((finishedAt ?? 0) + HOUR_MS);
  });

  it('stays for ever where the configuration says so', async () => {
    const zero = { IDEMPOTENCY: '0', TASKS: '0', RESPONSES: '0' };
    lab = await lab.reopened(
      Object.fromEntries(Object.entries(zero).map(([name, value]) => [`LMSP_RETENTION_${name}_SECONDS`, value])),
    );
    await lab.bring('completed', { keyed: request() });
    expect((await rows())[0]?.expires_at).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('expired counts as absent, and the next first replaces it in its unit', async () => {
    await lab.bring('completed', { keyed: request() });
    await expire();
    expect(await lab.keys.find(request())).toBeNull();
    const other = request({ fingerprint: fingerprintOf({ a: 2 }, {}) });
    const { id } = await lab.create({ keyed: other });
    expect((await lab.keys.find(other))?.id).toBe(id);
    expect(await rows()).toHaveLength(1);
  });
});

describe('keys and a restart (WIRE B6, row "restart"; C2, C3)', () => {
  it.each<[Found, boolean, boolean]>([
    ['queued', true, true],
    ['running', true, true],
    ['cancelling', true, true],
    ['queued', false, false],
    ['loading', false, false],
    ['running', false, false],
    ['cancelling', false, false],
  ])('%s, background %s: kept %s', async (status, background, kept) => {
    await lab.bring(status, { background, keyed: request() });
    lab = await lab.reopened();
    await lab.recovery.run(() => undefined);
    expect(await rows()).toHaveLength(kept ? 1 : 0);
  });
});
