/**
 * The task state machine as data: one row per command (WIRE B4), executed by TaskLifecycleService alone.
 * States, terminal states and lifecycle event names derive from this file.
 */

export const TASK_STATUSES = [
  'queued',
  'loading',
  'running',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const TERMINAL_STATUSES = ['completed', 'failed', 'cancelled'] as const satisfies readonly TaskStatus[];
export const UNFINISHED_STATUSES = [
  'queued',
  'loading',
  'running',
  'cancelling',
] as const satisfies readonly TaskStatus[];

/** Somebody works on the task, or it waits for take-up. */
export type HeldStatus = Exclude<(typeof UNFINISHED_STATUSES)[number], 'queued'>;

export const ON_RESTART_POLICIES = ['fail', 'retry', 'resume'] as const;
export type OnRestart = (typeof ON_RESTART_POLICIES)[number];

export const LIFECYCLE_EVENTS = [
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
] as const;
export type LifecycleEvent = (typeof LIFECYCLE_EVENTS)[number];

/** The events after which no other may come (invariant 3). */
export const TERMINAL_EVENTS = [
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
] as const satisfies readonly LifecycleEvent[];

export interface Transition {
  /** Row number of WIRE B4. */
  row: number;
  /** Statuses it may leave; empty: the task does not exist yet. */
  from: readonly TaskStatus[];
  to: TaskStatus;
  /** Appended in this order, in the same transaction (R2). `error` precedes a runtime failure only. */
  events: readonly ('error' | LifecycleEvent)[];
  /** `set`: the given owner becomes the owner; `clear`: nobody owns the task afterwards. */
  owner: 'set' | 'clear' | 'keep';
  /** A claim or take-up raises the attempt, the fencing number of every later write. */
  raisesAttempt: boolean;
  /** The output begins anew from nothing: item ids of the new start differ (WIRE B0). */
  startsOver: boolean;
  /** Only a task that nobody owns. */
  unownedOnly: boolean;
  /** Comes from a runner or handler: must name attempt and owner of its claim (HOUSE 4.6). */
  fenced: boolean;
}

const base = {
  owner: 'keep',
  raisesAttempt: false,
  startsOver: false,
  unownedOnly: false,
  fenced: false,
} as const;

const failure = ['error', 'response.failed'] as const;

export const TASK_TRANSITIONS = {
  enqueue: { ...base, row: 1, from: [], to: 'queued', events: ['response.created', 'response.queued'] },
  startLoading: {
    ...base,
    row: 2,
    from: ['queued'],
    to: 'loading',
    events: ['response.in_progress'],
    owner: 'set',
    raisesAttempt: true,
  },
  start: {
    ...base,
    row: 3,
    from: ['queued'],
    to: 'running',
    events: ['response.in_progress'],
    owner: 'set',
    raisesAttempt: true,
  },
  startLoaded: { ...base, row: 4, from: ['loading'], to: 'running', events: ['response.in_progress'], fenced: true },
  failLoading: { ...base, row: 5, from: ['loading'], to: 'failed', events: failure, owner: 'clear', fenced: true },
  complete: {
    ...base,
    row: 6,
    from: ['running'],
    to: 'completed',
    events: ['response.completed'],
    owner: 'clear',
    fenced: true,
  },
  completeIncomplete: {
    ...base,
    row: 7,
    from: ['running'],
    to: 'completed',
    events: ['response.incomplete'],
    owner: 'clear',
    fenced: true,
  },
  fail: { ...base, row: 8, from: ['running'], to: 'failed', events: failure, owner: 'clear', fenced: true },
  cancelQueued: { ...base, row: 9, from: ['queued'], to: 'cancelled', events: ['response.cancelled'], owner: 'clear' },
  requestCancel: { ...base, row: 10, from: ['loading', 'running'], to: 'cancelling', events: ['response.in_progress'] },
  confirmCancel: {
    ...base,
    row: 11,
    from: ['cancelling'],
    to: 'cancelled',
    events: ['response.cancelled'],
    owner: 'clear',
  },
  failQueued: { ...base, row: 12, from: ['queued'], to: 'failed', events: failure, owner: 'clear' },
  failUnowned: {
    ...base,
    row: 13,
    from: ['running'],
    to: 'failed',
    events: failure,
    owner: 'clear',
    unownedOnly: true,
  },
  requeueLost: {
    ...base,
    row: 15,
    from: ['running'],
    to: 'queued',
    events: ['response.queued'],
    owner: 'clear',
    startsOver: true,
    fenced: true,
  },
  interruptLost: {
    ...base,
    row: 15,
    from: ['running'],
    to: 'running',
    events: ['response.in_progress'],
    owner: 'clear',
    fenced: true,
  },
  reloadLost: { ...base, row: 15, from: ['loading'], to: 'loading', events: [], owner: 'set', fenced: true },
  recoverFail: {
    ...base,
    row: 16,
    from: ['queued', 'loading', 'running'],
    to: 'failed',
    events: ['response.failed'],
    owner: 'clear',
  },
  recoverRetry: {
    ...base,
    row: 17,
    from: ['loading', 'running'],
    to: 'queued',
    events: ['response.queued'],
    owner: 'clear',
    startsOver: true,
  },
  recoverResume: {
    ...base,
    row: 18,
    from: ['running'],
    to: 'running',
    events: ['response.in_progress'],
    owner: 'clear',
  },
  recoverCancel: {
    ...base,
    row: 19,
    from: ['cancelling'],
    to: 'cancelled',
    events: ['response.cancelled'],
    owner: 'clear',
  },
  takeUp: {
    ...base,
    row: 20,
    from: ['running'],
    to: 'running',
    events: [],
    owner: 'set',
    raisesAttempt: true,
    unownedOnly: true,
  },
} as const satisfies Record<string, Transition>;

export type TaskCommand = keyof typeof TASK_TRANSITIONS;

export function isTerminal(status: TaskStatus): boolean {
  return (TERMINAL_STATUSES as readonly TaskStatus[]).includes(status);
}

export function isTerminalEvent(type: string): boolean {
  return (TERMINAL_EVENTS as readonly string[]).includes(type);
}
