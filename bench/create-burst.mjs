// 1,000 background creates from 64 connections: are all accepted, do all end, is every log whole?
import sqlite3 from 'sqlite3';
import { join } from 'node:path';
import { eventually, inParallel, percentile, startService } from './service.mjs';

const ENDS = ['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'];

export default async function createBurst([count = '1000', connections = '64']) {
  const total = Number(count);
  const service = await startService({ connections: Number(connections) });
  const accepted = [];
  const times = [];
  const began = performance.now();
  await inParallel(total, Number(connections), async (i) => {
    const sent = performance.now();
    const { status, body } = await service.call('POST', '/v1/responses', {
      model: 'pocket',
      input: `What is ${i % 50} + ${i % 31}?`,
      background: true,
    });
    times.push(performance.now() - sent);
    if (status === 202) accepted.push(JSON.parse(body).id);
  });
  const acceptSeconds = (performance.now() - began) / 1000;
  await eventually(async () => {
    const { body } = await service.call('GET', '/v1/tasks?status=queued,loading,running,cancelling&limit=1');
    if (JSON.parse(body).data.length > 0) throw new Error('tasks are still running');
  }, 300_000);
  const endSeconds = (performance.now() - began) / 1000;
  const exit = await service.stop();
  const logs = await checkLogs(join(service.dataDir, 'lmsp.sqlite'), new Set(accepted));
  await service.remove();
  return {
    creates: total,
    connections: Number(connections),
    accepted: accepted.length,
    accept_seconds: round(acceptSeconds),
    accepts_per_second: Math.round(total / acceptSeconds),
    accept_p99_ms: round(percentile(times, 99)),
    all_ended_seconds: round(endSeconds),
    exit,
    ...logs,
  };
}

/** Reads the store of the ended service with the bare driver. */
export async function checkLogs(file, ids) {
  const database = new sqlite3.Database(file, sqlite3.OPEN_READONLY);
  const all = (sql) =>
    new Promise((resolve, reject) => database.all(sql, (error, rows) => (error ? reject(error) : resolve(rows))));
  const tasks = await all('select id, response_id, status, last_sequence_number from tasks');
  const faults =
    await all(`select task_id, min(sequence_number) as low, max(sequence_number) as high, count(*) as events,
    sum(type in (${ENDS.map((type) => `'${type}'`).join(', ')})) as ends from task_events group by task_id`);
  const byId = new Map(faults.map((row) => [row.task_id, row]));
  const whole = tasks.filter((task) => {
    const log = byId.get(task.id);
    return (
      log && log.low === 0 && log.high === log.events - 1 && log.high === task.last_sequence_number && log.ends === 1
    );
  });
  const statuses = {};
  for (const { status } of tasks) statuses[status] = (statuses[status] ?? 0) + 1;
  const [{ integrity_check: integrity }] = await all('pragma integrity_check');
  await new Promise((resolve) => database.close(resolve));
  return {
    rows: tasks.length,
    rows_without_202: tasks.filter((task) => !ids.has(task.response_id)).length,
    whole_logs: whole.length,
    statuses,
    integrity,
  };
}

const round = (value) => Math.round(value * 100) / 100;
