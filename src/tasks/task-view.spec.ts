import { describe, expect, it } from 'vitest';
import { TASK_STATUSES, type TaskStatus } from './task-transitions.js';
import { taskToWire } from './task-view.js';
import { taskFromRow, type TaskRow } from './task.js';

const ROW: TaskRow = {
  position: 7,
  id: 'task_1',
  type: 'response',
  client_id: 'cli_1',
  response_id: 'resp_1',
  model: 'pocket',
  status: 'queued',
  on_restart: 'retry',
  background: 1,
  attempt: 2,
  interruptions: 1,
  max_interruptions: 3,
  start_count: 1,
  owner: null,
  suspect: 0,
  last_sequence_number: 5,
  input: null,
  result: '{"answer":42}',
  error: '{"type":"server_error","code":"model_error","message":"NaN","param":null}',
  metadata: '{"a":"b"}',
  created_at: 1_999,
  updated_at: 2_000,
  started_at: null,
  finished_at: null,
  cancel_requested_at: 3_001,
  events_expired_at: null,
};
const idle = { progress: null, waitPhase: null, queuePosition: null, retentionSeconds: 100 };

describe('the Task object (WIRE B4)', () => {
  it('has every field of the page, times in whole seconds', () => {
    expect(taskToWire(taskFromRow(ROW), { ...idle, queuePosition: 4 })).toEqual({
      id: 'task_1',
      object: 'task',
      type: 'response',
      client_id: 'cli_1',
      response_id: 'resp_1',
      model: 'pocket',
      result: { answer: 42 },
      status: 'queued',
      on_restart: 'retry',
      background: true,
      attempt: 2,
      interruptions: 1,
      max_interruptions: 3,
      last_sequence_number: 5,
      queue_position: 4,
      queue_ahead_seconds: null,
      progress: { phase: 'queued', load_fraction: null, prompt_tokens: null, output_tokens: 0 },
      error: { type: 'server_error', code: 'model_error', message: 'NaN', param: null },
      created_at: 1,
      updated_at: 2,
      started_at: null,
      finished_at: null,
      cancel_requested_at: 3,
      expires_at: null,
      poll_interval_ms: 2000,
      metadata: { a: 'b' },
    });
  });

  it('asks to poll at 500 ms while it runs, 2000 ms while it waits, and not at all once it has ended', () => {
    const intervals = TASK_STATUSES.map((status) => taskToWire(taskFromRow({ ...ROW, status }), idle).poll_interval_ms);
    const expected: Record<TaskStatus, number> = {
      queued: 2000,
      loading: 500,
      running: 500,
      cancelling: 500,
      completed: 0,
      failed: 0,
      cancelled: 0,
    };
    expect(intervals).toEqual(TASK_STATUSES.map((status) => expected[status]));
  });

  it('says what it waits for beside its turn', () => {
    const { progress } = taskToWire(taskFromRow(ROW), { ...idle, waitPhase: 'waiting_for_memory' });
    expect(progress).toEqual({
      phase: 'waiting_for_memory',
      load_fraction: null,
      prompt_tokens: null,
      output_tokens: 0,
    });
  });

  it('expires a retention period after its end, never without one, and shows the progress of its run', () => {
    const task = taskFromRow({ ...ROW, status: 'completed', finished_at: 10_500 });
    const progress = { phase: 'decode', load_fraction: null, prompt_tokens: 3, output_tokens: 4 };
    expect(taskToWire(task, { ...idle, progress })).toMatchObject({ expires_at: 110, progress });
    expect(taskToWire(task, { ...idle, retentionSeconds: 0 }).expires_at).toBeNull();
  });
});
