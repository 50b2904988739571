// 300,000 expired events go while one generation is read and 5 creates a second come: the longest pause of the stream
// and of a create, beside the same without retention (CASES BL-16; bound: 250 ms).
import sqlite3 from 'sqlite3';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, percentile, startService } from './service.mjs';

const EVENTS_OF_TASK = 300;
const CREATES_PER_SECOND = 5;
const IDLE_MS = 10_000;
const DAY_MS = 86_400_000;

export default async function retention([events = '300000']) {
  const tasks = Math.ceil(Number(events) / EVENTS_OF_TASK);
  const first = await startService();
  const { dataDir } = first;
  await first.stop();
  await withStore(dataDir, (run) => writeEndedTasks(run, tasks));

  const service = await startService({ dataDir });
  await service.call('POST', '/v1/models/load', { model: 'pocket' });
  // The time that writing the tasks took is a gap, for which nothing expires.
  await eventually(async () => {
    const { body } = await service.call('GET', '/v1/service/retention');
    if (JSON.parse(body).held_seconds > 0) throw new Error('expiry is held back');
  });
  const idle = await during(service, () => delay(IDLE_MS));
  const before = await sizeOf(dataDir);
  await withStore(dataDir, (run) =>
    run('update tasks set finished_at = ? where finished_at is not null', [Date.now() - 8 * DAY_MS]),
  );
  let run = {};
  let seconds = 0;
  const busy = await during(service, async () => {
    const began = performance.now();
    const { status, body } = await service.call('POST', '/v1/service/retention/run');
    seconds = (performance.now() - began) / 1000;
    if (status !== 200) throw new Error(`the run answered ${status} ${body}`);
    run = JSON.parse(body);
  });
  const exit = await service.stop();
  const after = await sizeOf(dataDir);
  await service.remove();
  const { removed, rows, batches } = run.data.find(({ kind }) => kind === 'tasks');
  return {
    expired_events: tasks * EVENTS_OF_TASK,
    removed_tasks: removed,
    removed_rows: rows,
    batches,
    seconds: round(seconds),
    events_per_second: Math.round((tasks * EVENTS_OF_TASK) / seconds),
    freed_pages: run.freed_pages,
    file_mb: { before: megabytes(before), after: megabytes(after) },
    idle,
    retention: busy,
    exit,
  };
}

/** Streams one generation after the other and creates in the background until the work has ended; milliseconds. */
async function during(service, work) {
  const gaps = [];
  const creates = [];
  let streams = 0;
  let done = false;
  const readOne = async () => {
    const response = await fetch(`${service.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'pocket',
        input: 'Tell me a very long story.',
        stream: true,
        background: true,
        temperature: 1,
      }),
    });
    let last = null;
    for await (const chunk of response.body) {
      const now = performance.now();
      if (last !== null && chunk.length > 0) gaps.push(now - last);
      last = now;
    }
    streams += 1;
  };
  const reader = (async () => {
    while (!done) await readOne();
  })();
  const creator = (async () => {
    const sending = [];
    while (!done) {
      sending.push(create(service, creates));
      await delay(1000 / CREATES_PER_SECOND);
    }
    await Promise.all(sending);
  })();
  await work();
  done = true;
  await Promise.all([reader, creator]);
  return {
    streams,
    events: gaps.length,
    stream_gap_ms: figures(gaps),
    creates: creates.length,
    create_ms: figures(creates),
  };
}

async function create(service, times) {
  const sent = performance.now();
  const { status, body } = await service.call('POST', '/v1/responses', {
    model: 'pocket',
    input: 'Hello',
    background: true,
    max_output_tokens: 1,
  });
  if (status !== 202) throw new Error(`a create answered ${status} ${body}`);
  times.push(performance.now() - sent);
}

/** Ended tasks as the product leaves them: an event for each token, a snapshot row for each group of two. */
async function writeEndedTasks(run, count) {
  const numbers = JSON.stringify(Array.from({ length: count }, (_, i) => i));
  const perTask = (rows) => JSON.stringify(Array.from({ length: rows }, (_, i) => i));
  await run('begin');
  await run(
    `insert into tasks (id, type, client_id, status, on_restart, background, attempt, interruptions, max_interruptions,
       start_count, suspect, last_sequence_number, metadata, created_at, updated_at, finished_at)
     select printf('task_old%023d', value), 'response', (select id from clients where owner = 1), 'completed', 'retry', 1, 1,
       0, 3, 0, 0, ?, '{}', 1, 1, ? from json_each(?)`,
    [EVENTS_OF_TASK - 1, Date.now(), numbers],
  );
  await run(
    `insert into task_events (task_id, sequence_number, type, payload, created_at)
     select tasks.id, value, 'response.output_text.delta', json_object('delta', printf('%.*c', 200, 'x')), 1
     from tasks, json_each(?) where finished_at is not null`,
    [perTask(EVENTS_OF_TASK)],
  );
  await run(
    `insert into task_snapshots (task_id, start_count, last_sequence_number, payload)
     select tasks.id, 0, value, '[1,2]' from tasks, json_each(?) where finished_at is not null`,
    [perTask(EVENTS_OF_TASK / 2)],
  );
  await run('commit');
}

async function withStore(dataDir, work) {
  const database = new sqlite3.Database(join(dataDir, 'lmsp.sqlite'));
  database.configure('busyTimeout', 5000);
  const run = (sql, parameters = []) =>
    new Promise((resolve, reject) => database.run(sql, parameters, (error) => (error ? reject(error) : resolve())));
  try {
    await work(run);
  } finally {
    await new Promise((resolve) => database.close(resolve));
  }
}

async function sizeOf(dataDir) {
  return (await stat(join(dataDir, 'lmsp.sqlite'))).size;
}

function figures(times) {
  return { p50: round(percentile(times, 50)), p99: round(percentile(times, 99)), max: round(percentile(times, 100)) };
}

const round = (value) => Math.round(value * 100) / 100;
const megabytes = (bytes) => Math.round(bytes / 1e5) / 10;
