import type { OnRestart } from '../../src/tasks/task-transitions.js';

export const UNFINISHED = ['queued', 'loading', 'running', 'cancelling'] as const;
export type Unfinished = (typeof UNFINISHED)[number];

/** 11.3: the new status of a background task, and the one event that says so. */
export const RESTART_TABLE: Record<Unfinished, Record<OnRestart, [status: string, event: string | null]>> = {
  queued: { fail: ['failed', 'response.failed'], retry: ['queued', null], resume: ['queued', null] },
  loading: {
    fail: ['failed', 'response.failed'],
    retry: ['queued', 'response.queued'],
    resume: ['queued', 'response.queued'],
  },
  running: {
    fail: ['failed', 'response.failed'],
    retry: ['queued', 'response.queued'],
    resume: ['running', 'response.in_progress'],
  },
  cancelling: {
    fail: ['cancelled', 'response.cancelled'],
    retry: ['cancelled', 'response.cancelled'],
    resume: ['cancelled', 'response.cancelled'],
  },
};

/** The row and column that hold for a task: in the foreground the policy is always fail (WIRE B6). */
export function restartOf(found: Unfinished, onRestart: OnRestart, background = true): [string, string | null] {
  return RESTART_TABLE[found][background ? onRestart : 'fail'];
}
