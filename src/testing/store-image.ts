import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { PlainConnection } from '../database/plain-connection.js';
import type { StoredEvent } from '../tasks/task-log.js';
import { taskFromRow, type Task, type TaskRow } from '../tasks/task.js';
import type { Fault } from './fault.js';

/** The row of `responses` that belongs to a task. */
export interface StoredResponseRow {
  id: string;
  status: string;
  /** JSON text of the last snapshot. */
  body: string;
  bodySequenceNumber: number;
  finishedAt: number | null;
}

/** One row of `task_snapshots`. */
export interface StoredSnapshot {
  startCount: number;
  lastSequenceNumber: number;
  lines: string[];
}

/** A task with all that the store holds of it. */
export interface StoredTask {
  task: Task;
  events: StoredEvent[];
  snapshots: StoredSnapshot[];
  response: StoredResponseRow | null;
  /** Idempotency keys bound to it. */
  keys: string[];
}

/** What a database holds. */
export interface StoreImage {
  tasks: Map<string, StoredTask>;
  /** What is wrong with the file itself, and rows that belong to nothing. */
  faults: Fault[];
}

const FILES = ['lmsp.sqlite', 'lmsp.sqlite-wal', 'lmsp.sqlite-journal'];

/**
 * Reads the store of a service that has ended, however it ended, from a copy: reading folds the write-ahead log into
 * the file, which is the next start's to do. Tasks named in `known` are passed over, so that a long run does not read
 * everything each time. A store that was not made yet is empty.
 */
export async function readStoreImage(dataDir: string, known: ReadonlySet<string> = new Set()): Promise<StoreImage> {
  const copy = await mkdtemp(join(tmpdir(), 'lmsp-image-'));
  try {
    for (const name of FILES) {
      const from = join(dataDir, name);
      if (await stat(from).catch(() => null)) await copyFile(from, join(copy, name));
    }
    const connection = await PlainConnection.open(
      join(copy, 'lmsp.sqlite'),
      sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE,
    );
    try {
      return await readImage(connection, known);
    } finally {
      await connection.close();
    }
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function readImage(connection: PlainConnection, known: ReadonlySet<string>): Promise<StoreImage> {
  const image: StoreImage = { tasks: new Map(), faults: await fileFaults(connection) };
  const [made] = await connection.rows(`select 1 from sqlite_schema where name = 'task_events'`);
  if (!made) return image;
  const others = `not in (select value from json_each('${JSON.stringify([...known])}'))`;
  for (const row of await connection.rows<TaskRow>(`select * from tasks where id ${others} order by position`)) {
    image.tasks.set(row.id, { task: taskFromRow(row), events: [], snapshots: [], response: null, keys: [] });
  }
  await readEvents(connection, image, others);
  await readSnapshots(connection, image, others);
  await readResponses(connection, image, others);
  await readKeys(connection, image);
  return image;
}

async function fileFaults(connection: PlainConnection): Promise<Fault[]> {
  const faults: Fault[] = [];
  const [check] = await connection.rows<{ quick_check: string }>('pragma quick_check(1)');
  if (check?.quick_check !== 'ok') faults.push({ rule: 'S1', what: `the file is damaged: ${check?.quick_check}` });
  const strays = await connection.rows<{ table: string }>('pragma foreign_key_check');
  if (strays.length > 0)
    faults.push({ rule: 'R2', what: `${strays.length} rows of ${strays[0]?.table} have no parent` });
  return faults;
}

async function readEvents(connection: PlainConnection, image: StoreImage, others: string): Promise<void> {
  const rows = await connection.rows<{ task_id: string; sequence_number: number; type: string; payload: string }>(
    `select task_id, sequence_number, type, payload from task_events where task_id ${others}
     order by task_id, sequence_number`,
  );
  for (const { task_id, sequence_number: sequenceNumber, type, payload } of rows) {
    image.tasks.get(task_id)?.events.push({ sequenceNumber, type, payload });
  }
}

async function readSnapshots(connection: PlainConnection, image: StoreImage, others: string): Promise<void> {
  const rows = await connection.rows<{
    task_id: string;
    start_count: number;
    last_sequence_number: number;
    payload: string;
  }>(`select task_id, start_count, last_sequence_number, payload from task_snapshots where task_id ${others}
      order by position`);
  for (const row of rows) {
    image.tasks.get(row.task_id)?.snapshots.push({
      startCount: row.start_count,
      lastSequenceNumber: row.last_sequence_number,
      lines: row.payload.split('\n'),
    });
  }
}

async function readResponses(connection: PlainConnection, image: StoreImage, others: string): Promise<void> {
  const rows = await connection.rows<{
    task_id: string | null;
    id: string;
    status: string;
    body: string;
    body_sequence_number: number;
    finished_at: number | null;
  }>(`select t.id as task_id, r.id, r.status, r.body, r.body_sequence_number, r.finished_at
      from responses r left join tasks t on t.response_id = r.id where t.id is null or t.id ${others}`);
  for (const row of rows) {
    if (row.task_id === null) image.faults.push({ rule: 'R2', what: `response ${row.id} has no task` });
    const stored = image.tasks.get(row.task_id ?? '');
    if (!stored) continue;
    stored.response = {
      id: row.id,
      status: row.status,
      body: row.body,
      bodySequenceNumber: row.body_sequence_number,
      finishedAt: row.finished_at,
    };
  }
}

async function readKeys(connection: PlainConnection, image: StoreImage): Promise<void> {
  const rows = await connection.rows<{ task_id: string; key: string }>(
    'select task_id, key from idempotency_keys where task_id is not null',
  );
  for (const { task_id, key } of rows) image.tasks.get(task_id)?.keys.push(key);
}
