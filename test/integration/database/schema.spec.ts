import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../../migrations/index.js';
import type { Tx } from '../../../src/database/index.js';
import { ENTITIES } from '../../../src/entities.js';
import { insertClient, insertTask, openTestStore, type TestStore } from '../../support/store.js';

let open: TestStore;

beforeEach(async () => {
  open = await openTestStore();
  await open.store.units.run((tx) => insertClient(tx));
});

afterEach(() => open.close());

const inUnit = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => open.store.units.run(work);
const sql = (statement: string, parameters: unknown[] = []) => inUnit((tx) => tx.execute(statement, parameters));
const count = async (table: string): Promise<number> =>
  (await open.store.reader.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]!.n;

const insertEvent = (tx: Tx, taskId: string, number: number) =>
  tx.execute('INSERT INTO task_events (task_id, sequence_number, type, payload, created_at) VALUES (?, ?, ?, ?, 1)', [
    taskId,
    number,
    'response.created',
    '{}',
  ]);

const insertSnapshot = (tx: Tx, taskId: string) =>
  tx.execute(
    `INSERT INTO task_snapshots (task_id, start_count, last_sequence_number, payload) VALUES (?, 0, 1, '{}')`,
    [taskId],
  );

const insertKey = (tx: Tx, key: string, taskId: string | null = null) =>
  tx.execute(
    `INSERT INTO idempotency_keys (client_id, method, route, key, fingerprint, task_id, created_at, expires_at)
     VALUES ('cli_test', 'POST', '/v1/responses', ?, 'f', ?, 1, 2)`,
    [key, taskId],
  );

const insertResponse = (tx: Tx, id: string, status = 'queued') =>
  tx.execute(
    `INSERT INTO responses (id, client_id, model, status, created_at, body, body_sequence_number, input)
     VALUES (?, 'cli_test', 'pocket', ?, 1, '{}', 1, '[]')`,
    [id, status],
  );

const finished = { status: 'completed', finished_at: 2 };

describe('migrations and entities', () => {
  async function difference(): Promise<string[]> {
    const entities = [...ENTITIES];
    const source = new DataSource({ type: 'sqlite', database: open.store.file, entities, migrations: [] });
    await source.initialize();
    try {
      return (await source.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query);
    } finally {
      await source.destroy();
    }
  }

  test('a freshly migrated store has exactly the columns, keys, indexes and checks of the entities', async () => {
    expect(await difference()).toEqual([]);
  });

  test.each(['ALTER TABLE models ADD COLUMN stray text', 'DROP INDEX tasks_finished'])(
    'drift is seen: %s',
    async (drift) => {
      await sql(drift);
      expect(await difference()).not.toEqual([]);
    },
  );

  test('the first migration has nothing to go back to', async () => {
    await expect(new MIGRATIONS[0]().down()).rejects.toThrow('cannot be reverted');
  });
});

describe('an unfinished task', () => {
  test.each(['queued', 'loading', 'running', 'cancelling'])(
    '%s is never deleted, not even by REPLACE',
    async (status) => {
      await inUnit((tx) => insertTask(tx, { id: 'task_a', status }));
      await expect(sql('DELETE FROM tasks')).rejects.toThrow('unfinished task');
      const replace = `INSERT OR REPLACE INTO tasks SELECT * FROM tasks`;
      await expect(sql(replace)).rejects.toThrow('unfinished task');
      expect(await count('tasks')).toBe(1);
    },
  );

  test('keeps its events, its snapshots and its response', async () => {
    await inUnit(async (tx) => {
      await insertResponse(tx, 'resp_a');
      await insertTask(tx, { id: 'task_a', response_id: 'resp_a' });
      await insertEvent(tx, 'task_a', 0);
      await insertSnapshot(tx, 'task_a');
    });
    for (const table of ['task_events', 'task_snapshots', 'responses']) {
      await expect(sql(`DELETE FROM ${table}`)).rejects.toThrow('unfinished task');
    }
  });
});

describe('a finished task', () => {
  test('is deleted with its events, snapshots and keys; its response may stay or go', async () => {
    await inUnit(async (tx) => {
      await insertResponse(tx, 'resp_a', 'completed');
      await insertTask(tx, { id: 'task_a', response_id: 'resp_a', ...finished });
      await insertEvent(tx, 'task_a', 0);
      await insertSnapshot(tx, 'task_a');
      await insertKey(tx, 'k', 'task_a');
    });
    await sql('DELETE FROM tasks');
    expect(await Promise.all(['task_events', 'task_snapshots', 'idempotency_keys', 'responses'].map(count))).toEqual([
      0, 0, 0, 1,
    ]);
    await sql('DELETE FROM responses');
  });

  test('can be stripped of its events first, as retention does in small batches', async () => {
    await inUnit(async (tx) => {
      await insertTask(tx, { id: 'task_a', ...finished });
      await insertEvent(tx, 'task_a', 0);
    });
    await sql('DELETE FROM task_events WHERE sequence_number < 10');
    expect(await count('task_events')).toBe(0);
  });

  test('terminal is final: its status never changes again (WIRE B4 row 14)', async () => {
    await inUnit((tx) => insertTask(tx, { id: 'task_a', ...finished }));
    await expect(sql(`UPDATE tasks SET status = 'failed'`)).rejects.toThrow('terminal task');
    await expect(sql(`UPDATE tasks SET status = 'queued', finished_at = NULL`)).rejects.toThrow('terminal task');
    await expect(sql(`UPDATE tasks SET finished_at = NULL`)).rejects.toThrow('tasks_terminal_is_finished');
    await sql('UPDATE tasks SET events_expired_at = 3');
  });
});

describe('the log', () => {
  test('is immutable: no event and no snapshot is ever updated, of whatever task (R2)', async () => {
    await inUnit(async (tx) => {
      await insertTask(tx, { id: 'task_a', ...finished });
      await insertEvent(tx, 'task_a', 0);
      await insertSnapshot(tx, 'task_a');
    });
    await expect(sql(`UPDATE task_events SET payload = '{"a":1}'`)).rejects.toThrow('event is immutable');
    await expect(sql(`UPDATE task_snapshots SET payload = ''`)).rejects.toThrow('snapshot is immutable');
  });

  test('holds each number of a task once (invariant 1)', async () => {
    await inUnit(async (tx) => {
      await insertTask(tx, { id: 'task_a' });
      await insertEvent(tx, 'task_a', 0);
    });
    await expect(inUnit((tx) => insertEvent(tx, 'task_a', 0))).rejects.toThrow(/UNIQUE/);
    await expect(inUnit((tx) => insertEvent(tx, 'task_none', 0))).rejects.toThrow(/FOREIGN KEY/);
  });
});

describe('what the columns admit', () => {
  test.each([
    ['an unknown status', { status: 'paused' }, 'tasks_status_known'],
    ['an unknown policy', { on_restart: 'maybe' }, 'tasks_on_restart_known'],
    ['a terminal task without its end', { status: 'failed' }, 'tasks_terminal_is_finished'],
    ['an end without a terminal status', { status: 'running', finished_at: 2 }, 'tasks_terminal_is_finished'],
    ['an owner of a queued task', { owner: 'r1' }, 'tasks_owned_while_held'],
    ['an owner of a finished task', { ...finished, owner: 'r1' }, 'tasks_owned_while_held'],
    ['a client that does not exist', { client_id: 'cli_none' }, 'FOREIGN KEY'],
    ['text for a number', { attempt: 'one' }, 'INTEGER'],
  ])('a task with %s is refused', async (_, columns, reason) => {
    await expect(inUnit((tx) => insertTask(tx, { id: 'task_a', ...columns }))).rejects.toThrow(reason);
  });

  test.each(['loading', 'running', 'cancelling'])('a %s task may have an owner', async (status) => {
    await inUnit((tx) => insertTask(tx, { id: 'task_a', status, owner: 'r1' }));
  });

  test('other tables refuse words that are not in their lists', async () => {
    await expect(inUnit((tx) => insertResponse(tx, 'resp_a', 'done'))).rejects.toThrow('responses_status_known');
    const model = (type: string, state: string) =>
      sql(
        `INSERT INTO models (id, type, directory, graph_file, layout, state, capabilities, aliases, pinned, owned_by, embedded, created_at, updated_at)
         VALUES ('m', ?, 'd', 'g', 'genai', ?, '[]', '[]', 0, 'o', 1, 1, 1)`,
        [type, state],
      );
    await expect(model('speech', 'available')).rejects.toThrow('models_type_known');
    await expect(model('llm', 'loaded')).rejects.toThrow('models_state_known');
    await model('llm', 'verifying');
    const pairing = `INSERT INTO pairings (id, device_code_hash, user_code_hash, client_name, software, scopes, address, status, interval_seconds, created_at, expires_at)
       VALUES ('p', 'd', 'u', 'n', 's', '[]', 'a', ?, 5, 1, 2)`;
    await expect(sql(pairing, ['maybe'])).rejects.toThrow('pairings_status_known');
    await sql(pairing, ['pending']);
  });
});

describe('unique keys', () => {
  test('task ids, responses of tasks, token hashes and idempotency keys', async () => {
    await inUnit((tx) => insertTask(tx, { id: 'task_a', response_id: 'resp_a' }));
    await expect(inUnit((tx) => insertTask(tx, { id: 'task_a' }))).rejects.toThrow('tasks.id');
    await expect(inUnit((tx) => insertTask(tx, { id: 'task_b', response_id: 'resp_a' }))).rejects.toThrow(
      'response_id',
    );
    await inUnit((tx) => insertKey(tx, 'k'));
    await expect(inUnit((tx) => insertKey(tx, 'k'))).rejects.toThrow('idempotency_keys.key');
    await inUnit((tx) => insertClient(tx, 'cli_other'));
    await expect(sql(`UPDATE clients SET token_hash = 'same'`)).rejects.toThrow('clients.token_hash');
  });

  test('positions grow and are not used again after a deletion', async () => {
    await inUnit((tx) => insertTask(tx, { id: 'task_a', ...finished }));
    await sql('DELETE FROM tasks');
    await inUnit((tx) => insertTask(tx, { id: 'task_b' }));
    expect(await open.store.reader.query('SELECT position FROM tasks')).toEqual([{ position: 2 }]);
  });
});

test.each([
  [`SELECT * FROM tasks WHERE status = 'queued' AND type = ? AND model = ? ORDER BY position LIMIT 8`, 'tasks_queued'],
  [`SELECT * FROM tasks WHERE status IN ('loading', 'running', 'cancelling')`, 'tasks_owned'],
  [`SELECT * FROM tasks WHERE client_id = ? AND position < ? ORDER BY position DESC LIMIT 20`, 'tasks_client'],
  [`SELECT id FROM tasks WHERE finished_at < ? ORDER BY finished_at LIMIT 500`, 'tasks_finished'],
  [`SELECT id FROM tasks WHERE events_expired_at IS NOT NULL ORDER BY events_expired_at, position`, 'tasks_expired'],
  [`SELECT 1 FROM responses WHERE previous_response_id = ?`, 'COVERING INDEX responses_previous'],
  [`SELECT * FROM task_events WHERE task_id = ? AND sequence_number > ? ORDER BY sequence_number`, 'PRIMARY KEY'],
  [`SELECT * FROM task_snapshots WHERE task_id = ? ORDER BY position DESC`, 'task_snapshots_task'],
])('%s is answered from an index in order', async (query, index) => {
  const plan = await open.store.reader.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${query}`);
  expect(plan.map(({ detail }) => detail).join()).toContain(index);
  expect(plan.map(({ detail }) => detail).join()).not.toContain('TEMP B-TREE');
});
