// A store with thousands of rows beside one with millions: an accept, a page of tasks, a page of events and the replay
// of a log must not take longer. Both services run; they are asked in turn, on one connection.
import sqlite3 from 'sqlite3';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { median, percentile, rounded, startService } from './service.mjs';

const EVENTS = 96;
/** Of each task: itself, its response, its item, its events and one snapshot row. */
const ROWS = EVENTS + 4;
const ENV = { LMSP_MAX_ROWS: '0' };
const STREAM = { accept: 'text/event-stream' };

/** @param [rows in the small store, rows in the large one, rounds, requests of each kind in a round] */
export default async function tableGrowth([small = '10000', large = '3000000', rounds = '5', requests = '40']) {
  const services = {};
  const times = {};
  try {
    for (const [name, rows] of Object.entries({ small, large })) services[name] = await filled(Number(rows));
    for (let round = -1; round < Number(rounds); round += 1) {
      for (const [kind, ask] of Object.entries(KINDS)) {
        const taken = await timesOf(services, ask, Number(requests));
        // The first round only warms up.
        if (round >= 0) (times[kind] ??= []).push(taken);
      }
    }
    return report(times, services);
  } finally {
    for (const { service } of Object.values(services)) {
      await service.stop();
      await service.remove();
    }
  }
}

/** What is asked; each gives the path of its request, or a body to post. */
const KINDS = {
  accept: () => ['POST', '/v1/responses', { model: 'pocket', input: 'What is 17 + 4?', background: true }, 202],
  'page of tasks': () => ['GET', '/v1/tasks?limit=100', undefined, 200],
  'page of tasks, from the middle': ({ task }) => ['GET', `/v1/tasks?limit=100&after=${task}`, undefined, 200],
  'page of events': ({ task }) => ['GET', `/v1/tasks/${task}/events?limit=50&starting_after=20`, undefined, 200],
  'replay of a log': ({ task }) => ['GET', `/v1/tasks/${task}/events`, undefined, 200, STREAM],
};

/** Milliseconds of each, asked by turns: what else the machine does meets both alike. */
async function timesOf(services, ask, requests) {
  const times = { small: [], large: [] };
  for (let i = 0; i < requests; i += 1) {
    const names = i % 2 === 0 ? ['small', 'large'] : ['large', 'small'];
    for (const name of names) times[name].push(await timeOf(services[name], ask));
  }
  return times;
}

async function timeOf({ service, tasks }, ask) {
  const [method, path, body, expected, headers] = ask({ task: tasks[Math.floor(Math.random() * tasks.length)] });
  const sent = performance.now();
  const answer = await service.call(method, path, body, headers);
  if (answer.status !== expected) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 200)}`);
  return performance.now() - sent;
}

/** A service on a store with so many rows. */
async function filled(rows) {
  const first = await startService({ env: ENV });
  const { dataDir } = first;
  await first.call('POST', '/v1/responses', { model: 'pocket', input: 'Hello', background: true });
  await first.stop();
  const began = performance.now();
  const tasks = await fill(join(dataDir, 'lmsp.sqlite'), Math.round(rows / ROWS));
  const seconds = (performance.now() - began) / 1000;
  const service = await startService({ env: ENV, dataDir, connections: 1 });
  const bytes = (await stat(join(dataDir, 'lmsp.sqlite'))).size;
  return { service, tasks, rows, megabytes: Math.round(bytes / 1e6), seconds: rounded(seconds, 1) };
}

/** Adds ended tasks after the form of the one that is there; resolves with the ids of some of them. */
async function fill(file, count) {
  const database = new sqlite3.Database(file);
  const call = (method, sql, parameters = []) =>
    new Promise((resolve, reject) =>
      database[method](sql, parameters, (error, rows) => (error ? reject(error) : resolve(rows))),
    );
  for (const pragma of ['synchronous = off', 'cache_size = -200000', 'wal_autocheckpoint = 20000']) {
    await call('run', `pragma ${pragma}`);
  }
  const columns = async (table, changed) => {
    const names = (await call('all', `select name from pragma_table_info(?)`, [table])).map(({ name }) => name);
    const kept = names.filter((name) => name !== 'position');
    return { into: kept.join(', '), from: kept.map((name) => changed[name] ?? name).join(', ') };
  };
  const id = (prefix) => `printf('${prefix}_filled%020d', n.value)`;
  const ended = { status: `'completed'`, finished_at: 'created_at + 1000' };
  const task = await columns('tasks', {
    ...ended,
    id: id('task'),
    response_id: id('resp'),
    last_sequence_number: `${EVENTS - 1}`,
  });
  const response = await columns('responses', { ...ended, id: id('resp'), completed_at: 'created_at + 1000' });
  const last = `'response.completed'`;
  const delta = `'response.output_text.delta'`;
  for (let from = 0; from < count; from += 500) {
    const batch = JSON.stringify(Array.from({ length: Math.min(500, count - from) }, (_, i) => from + i));

    await call('run', 'begin');
    await call(
      'run',
      `insert into responses (${response.into}) select ${response.from} from (select value from json_each(?)) n, (select * from responses order by rowid limit 1)`,
      [batch],
    );
    await call(
      'run',
      `insert into tasks (${task.into}) select ${task.from} from (select value from json_each(?)) n, (select * from tasks order by position limit 1)`,
      [batch],
    );
    await call(
      'run',
      `insert into task_events (task_id, sequence_number, type, payload, created_at)
       select ${id('task')}, e.value, iif(e.value = ${EVENTS - 1}, ${last}, ${delta}),
         json_object('type', iif(e.value = ${EVENTS - 1}, ${last}, ${delta}), 'sequence_number', e.value,
           'item_id', ${id('msg')}, 'output_index', 0, 'content_index', 0, 'delta', ' word', 'logprobs', json_array()), 1
       from (select value from json_each(?)) n, (select value from json_each(?)) e`,
      [batch, JSON.stringify(Array.from({ length: EVENTS }, (_, i) => i))],
    );
    await call(
      'run',
      `insert into task_snapshots (task_id, start_count, last_sequence_number, payload) select ${id('task')}, 0, ${EVENTS - 1}, '[1,2,3]' from (select value from json_each(?)) n`,
      [batch],
    );
    await call(
      'run',
      `insert into response_items (item_id, response_id) select ${id('msg')}, ${id('resp')} from (select value from json_each(?)) n`,
      [batch],
    );
    await call('run', 'commit');
  }
  await call('run', 'pragma wal_checkpoint(truncate)');
  const some = await call('all', `select id from tasks where status = 'completed' and position % ? = 0`, [
    Math.max(1, Math.floor(count / 97)),
  ]);
  await new Promise((resolve) => database.close(resolve));
  return some.map((row) => row.id);
}

function report(times, services) {
  const ratios = {};
  const table = Object.entries(times).map(([kind, rounds]) => {
    const ofRounds = rounds.map(({ small, large }) => median(large) / median(small));
    const [small, large] = ['small', 'large'].map((name) => rounds.flatMap((round) => round[name]));
    ratios[kind] = rounded(median(ofRounds), 2);
    return {
      kind,
      'small, ms': rounded(median(small), 2),
      'large, ms': rounded(median(large), 2),
      ratio: ratios[kind],
      'ratios of the rounds': ofRounds.map((ratio) => rounded(ratio, 2)).join(' '),
      'p99 small': rounded(percentile(small, 99), 1),
      'p99 large': rounded(percentile(large, 99), 1),
    };
  });
  console.table(table);
  const stores = Object.values(services).map(({ rows, megabytes, seconds }) => ({ rows, megabytes, fill_s: seconds }));
  return { stores, large_over_small: ratios, cells: table };
}
