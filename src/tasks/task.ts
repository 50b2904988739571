import type { ErrorBody } from '../errors/index.js';
import type { OnRestart, TaskStatus } from './task-transitions.js';

export type JsonObject = Record<string, unknown>;

/**
 * What is held against a task since what ran it was lost (WIRE B6). 0: nothing. 1: it was one of several; it runs alone
 * until it has made progress. 2: it was alone, and has made no step since.
 */
export type Suspicion = 0 | 1 | 2;

/** A task as the service works with it: one row of `tasks`. Times are epoch milliseconds. */
export interface Task {
  /** Grows with every task; order of the queue and of lists, never a time. */
  position: number;
  id: string;
  type: string;
  clientId: string;
  responseId: string | null;
  /** Model the task runs on, or null. Together with the type it names the lane it waits in. */
  model: string | null;
  status: TaskStatus;
  onRestart: OnRestart;
  background: boolean;
  /** Raised at claim and take-up; fencing number of every write of that run. */
  attempt: number;
  interruptions: number;
  maxInterruptions: number;
  /** Number of times the output was begun anew from nothing. */
  startCount: number;
  owner: string | null;
  suspicion: Suspicion;
  lastSequenceNumber: number;
  input: JsonObject | null;
  result: JsonObject | null;
  error: ErrorBody | null;
  metadata: Record<string, string>;
  createdAt: number;
  updatedAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  cancelRequestedAt: number | null;
  eventsExpiredAt: number | null;
}

/** Names one attempt: what a runner must show with every write (HOUSE 4.6). */
export interface Claim {
  taskId: string;
  attempt: number;
  owner: string;
  /** The attempt goes on from a snapshot: its first new step ends the count of interruptions (WIRE B4). */
  resumed?: boolean;
}

/** The columns of `tasks` as SQLite returns them. */
export interface TaskRow {
  position: number;
  id: string;
  type: string;
  client_id: string;
  response_id: string | null;
  model: string | null;
  status: TaskStatus;
  on_restart: OnRestart;
  background: number;
  attempt: number;
  interruptions: number;
  max_interruptions: number;
  start_count: number;
  owner: string | null;
  suspect: Suspicion;
  last_sequence_number: number;
  input: string | null;
  result: string | null;
  error: string | null;
  metadata: string;
  created_at: number;
  updated_at: number;
  started_at: number | null;
  finished_at: number | null;
  cancel_requested_at: number | null;
  events_expired_at: number | null;
}

const COLUMNS = [
  ...['position', 'id', 'type', 'client_id', 'response_id', 'model', 'status', 'on_restart', 'background', 'attempt'],
  ...[
    'interruptions',
    'max_interruptions',
    'start_count',
    'owner',
    'suspect',
    'last_sequence_number',
    'input',
    'result',
  ],
  ...['error', 'metadata', 'created_at', 'updated_at', 'started_at', 'finished_at', 'cancel_requested_at'],
  'events_expired_at',
] as const satisfies readonly (keyof TaskRow)[];

/**
 * SQL of a row as one JSON text, for statements that give many: the driver makes an object of columns at five times the
 * cost. Read with `JSON.parse`, it is a TaskRow.
 */
export const TASK_ROW_JSON = `json_object(${COLUMNS.map((column) => `'${column}', ${column}`).join(', ')})`;

function parsed<T>(json: string | null): T | null {
  return json === null ? null : (JSON.parse(json) as T);
}

export function taskFromRow(row: TaskRow): Task {
  return {
    position: row.position,
    id: row.id,
    type: row.type,
    clientId: row.client_id,
    responseId: row.response_id,
    model: row.model,
    status: row.status,
    onRestart: row.on_restart,
    background: row.background === 1,
    attempt: row.attempt,
    interruptions: row.interruptions,
    maxInterruptions: row.max_interruptions,
    startCount: row.start_count,
    owner: row.owner,
    suspicion: row.suspect,
    lastSequenceNumber: row.last_sequence_number,
    input: parsed<JsonObject>(row.input),
    result: parsed<JsonObject>(row.result),
    error: parsed<ErrorBody>(row.error),
    metadata: parsed<Record<string, string>>(row.metadata) ?? {},
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    cancelRequestedAt: row.cancel_requested_at,
    eventsExpiredAt: row.events_expired_at,
  };
}
