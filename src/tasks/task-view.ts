import type { Config } from '../config/index.js';
import type { ErrorBody } from '../errors/index.js';
import type { TaskProgress } from './task-handlers.js';
import { isTerminal, type OnRestart, type TaskStatus } from './task-transitions.js';
import type { JsonObject, Task } from './task.js';

/** The Task object of WIRE B4. Times are unix seconds. */
export interface TaskObject {
  id: string;
  object: 'task';
  type: string;
  client_id: string;
  response_id: string | null;
  model: string | null;
  result: JsonObject | null;
  status: TaskStatus;
  on_restart: OnRestart;
  background: boolean;
  attempt: number;
  interruptions: number;
  max_interruptions: number;
  last_sequence_number: number;
  queue_position: number | null;
  queue_ahead_seconds: number | null;
  progress: TaskProgress;
  error: ErrorBody | null;
  created_at: number;
  updated_at: number;
  started_at: number | null;
  finished_at: number | null;
  cancel_requested_at: number | null;
  expires_at: number | null;
  poll_interval_ms: number;
  metadata: Record<string, string>;
}

/** What is known of a task beside its row. */
export interface TaskSurroundings {
  /** Of the attempt this process is working on, or null. */
  progress: TaskProgress | null;
  /** Why it waits beside for its turn; null: nothing else keeps it, as far as is known. */
  waitPhase: string | null;
  /** Tasks ahead in its lane; null when not queued. */
  queuePosition: number | null;
  /** How long an ended task is kept; 0: for ever. */
  retentionSeconds: number;
}

export function taskToWire(task: Task, around: TaskSurroundings): TaskObject {
  const idle: TaskProgress = {
    phase: around.waitPhase ?? task.status,
    load_fraction: null,
    prompt_tokens: null,
    output_tokens: 0,
  };
  return {
    id: task.id,
    object: 'task',
    type: task.type,
    client_id: task.clientId,
    response_id: task.responseId,
    model: task.model,
    result: task.result,
    status: task.status,
    on_restart: task.onRestart,
    background: task.background,
    attempt: task.attempt,
    interruptions: task.interruptions,
    max_interruptions: task.maxInterruptions,
    last_sequence_number: task.lastSequenceNumber,
    queue_position: around.queuePosition,
    queue_ahead_seconds: null,
    progress: around.progress ?? idle,
    error: task.error,
    created_at: seconds(task.createdAt),
    updated_at: seconds(task.updatedAt),
    started_at: secondsOrNull(task.startedAt),
    finished_at: secondsOrNull(task.finishedAt),
    cancel_requested_at: secondsOrNull(task.cancelRequestedAt),
    expires_at: expiry(task.finishedAt, around.retentionSeconds),
    poll_interval_ms: pollInterval(task.status),
    metadata: task.metadata,
  };
}

/** Payload of a lifecycle event of any type but `response`: the task as it is then (WIRE B5). */
export function taskPayload(task: Task, config: Pick<Config, 'retentionTasksSeconds'>): JsonObject {
  const { retentionTasksSeconds: retentionSeconds } = config;
  return { task: taskToWire(task, { progress: null, waitPhase: null, queuePosition: null, retentionSeconds }) };
}

function expiry(finishedAt: number | null, retentionSeconds: number): number | null {
  return finishedAt === null || retentionSeconds === 0 ? null : seconds(finishedAt) + retentionSeconds;
}

/** A client that polls this often misses little and costs little. */
function pollInterval(status: TaskStatus): number {
  if (isTerminal(status)) return 0;
  return status === 'queued' ? 2000 : 500;
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function secondsOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : seconds(milliseconds);
}
