// Rows of tasks as a killed service leaves them, written straight into its store: all states, all policies.
import sqlite3 from 'sqlite3';
import { join } from 'node:path';

export const STATES = ['queued', 'loading', 'running', 'cancelling'];
export const POLICIES = ['fail', 'retry', 'resume'];

/** The twelve cells of 11.3 in turn, one task in ten in the foreground. */
export const everyCell = (i) => ({
  state: STATES[i % STATES.length],
  policy: POLICIES[Math.floor(i / STATES.length) % POLICIES.length],
  background: i % 10 !== 9,
});

const TOKENS = 8;
const BATCH = 1000;

/**
 * Adds `count` unfinished tasks to the store of an ended service. `cell(i)` names state, policy and background of the
 * ith; the store's one task gives the form of rows and snapshots.
 */
export async function writeLeftovers(dataDir, count, cell) {
  const database = new sqlite3.Database(join(dataDir, 'lmsp.sqlite'));
  const call = (method, sql, parameters = []) =>
    new Promise((resolve, reject) =>
      database[method](sql, parameters, (error, rows) => (error ? reject(error) : resolve(rows))),
    );
  await call('run', 'pragma journal_mode = wal');
  await call('run', 'pragma synchronous = off');
  const [task] = await call('all', 'select * from tasks limit 1');
  const [response] = await call('all', 'select * from responses where id = ?', [task.response_id]);
  const [{ payload }] = await call('all', 'select payload from task_events where task_id = ? and sequence_number = 0', [
    task.id,
  ]);
  const form = { task, response, body: JSON.parse(payload).response };
  for (let first = 0; first < count; first += BATCH) {
    const made = Array.from({ length: Math.min(BATCH, count - first) }, (_, i) => leftover(form, first + i, cell));
    await call('run', 'begin');
    await insert(
      call,
      'responses',
      made.map((each) => each.response),
    );
    await insert(
      call,
      'tasks',
      made.map((each) => each.task),
    );
    await insert(
      call,
      'task_events',
      made.flatMap((each) => each.events),
    );
    await insert(
      call,
      'task_snapshots',
      made.flatMap((each) => each.snapshots),
    );
    await call('run', 'commit');
  }
  await call('run', 'pragma wal_checkpoint(truncate)');
  await new Promise((resolve) => database.close(resolve));
}

/** How many tasks are in each status. */
export async function countByStatus(dataDir) {
  const database = new sqlite3.Database(join(dataDir, 'lmsp.sqlite'), sqlite3.OPEN_READONLY);
  const rows = await new Promise((resolve, reject) =>
    database.all('select status, count(*) as n from tasks group by status', (error, found) =>
      error ? reject(error) : resolve(found),
    ),
  );
  await new Promise((resolve) => database.close(resolve));
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

async function insert(call, table, rows) {
  if (rows.length === 0) return;
  const columns = Object.keys(rows[0]);
  const values = columns.map((column) => `value->>'${column}'`).join(', ');
  await call('run', `insert into ${table} (${columns.join(', ')}) select ${values} from json_each(?)`, [
    JSON.stringify(rows),
  ]);
}

function leftover(form, i, cell) {
  const { state, policy, background } = cell(i);
  const suffix = `leftover${String(i).padStart(18, '0')}`;
  const ids = { task: `task_${suffix}`, response: `resp_${suffix}` };
  const events = [];
  const add = (type, payload) => {
    const sequence_number = events.length;
    const text = JSON.stringify({ type, sequence_number, ...payload });
    events.push({ task_id: ids.task, sequence_number, type, payload: text, created_at: form.task.created_at });
  };
  let body = {
    ...form.body,
    id: ids.response,
    background,
    lmsp: { ...form.body.lmsp, task_id: ids.task, on_restart: policy },
  };
  let bodyNumber = 1;
  const lifecycle = (type, task_status, changes = {}) => {
    const status = task_status === 'queued' ? 'queued' : 'in_progress';
    body = { ...body, status, ...changes, lmsp: { ...body.lmsp, task_status, attempt: status === 'queued' ? 0 : 1 } };
    bodyNumber = events.length;
    add(type, { response: body });
  };
  lifecycle('response.created', 'queued');
  lifecycle('response.queued', 'queued');
  const snapshots = [];
  if (state === 'loading') lifecycle('response.in_progress', 'loading');
  if (state === 'running' || state === 'cancelling') {
    lifecycle('response.in_progress', 'running');
    const item = { id: `msg_${suffix}`, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    const place = { item_id: item.id, output_index: 0, content_index: 0 };
    add('response.output_item.added', { output_index: 0, item });
    add('response.content_part.added', { ...place, part });
    for (let token = 0; token < TOKENS; token += 1) {
      add('response.output_text.delta', { ...place, delta: ' word', logprobs: [] });
      snapshots.push({
        task_id: ids.task,
        start_count: 0,
        last_sequence_number: events.length - 1,
        payload: String(token + 5),
      });
    }
    if (state === 'cancelling') {
      const content = [{ ...part, text: ' word'.repeat(TOKENS) }];
      lifecycle('response.in_progress', 'cancelling', { output: [{ ...item, content }] });
    }
  }
  const { position: _position, ...task } = form.task;
  return {
    events,
    snapshots,
    response: {
      ...form.response,
      id: ids.response,
      status: body.status,
      body: JSON.stringify(body),
      body_sequence_number: bodyNumber,
      completed_at: null,
      finished_at: null,
    },
    task: {
      ...task,
      id: ids.task,
      response_id: ids.response,
      status: state,
      on_restart: policy,
      background: background ? 1 : 0,
      attempt: state === 'queued' ? 0 : 1,
      owner: state === 'queued' ? null : 'run_gone',
      last_sequence_number: events.length - 1,
      finished_at: null,
    },
  };
}
