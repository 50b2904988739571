import { Faults, type Fault } from '../../../support/fault.js';
import { isLifecycleEvent } from '../../../../src/testing/log-invariants.js';
import { snapshotOf } from '../../../../src/testing/response-invariants.js';
import type { StoredTask } from '../../../support/store-image.js';
import type { ObservedCancel, ObservedCreate, ObservedState, ObservedTask } from '../observations.js';

/** Nothing a client saw is missing from disk, and nothing it was told is untrue there. */
export function observedFaults(stored: StoredTask, observed: ObservedTask): Fault[] {
  const faults = new Faults();
  for (const [number, payload] of observed.events) {
    const onDisk = stored.events[number]?.payload;
    faults.unless(onDisk !== undefined, 'invariant 8', `event ${number} was sent and is not on disk`);
    if (onDisk !== undefined)
      faults.unless(onDisk === payload, 'invariant 9', `event ${number} was sent otherwise than it is on disk`);
  }
  for (const state of observed.states) checkState(stored, state, faults);
  for (const body of observed.ends)
    faults.unless(
      stored.response?.body === body,
      'invariant 3',
      'the end that a client saw is not the stored response',
    );
  for (const cancel of observed.cancels) checkCancel(stored, cancel, faults);
  return faults.list;
}

function checkState({ task, events }: StoredTask, seen: ObservedState, faults: Faults): void {
  const at = `shown ${seen.status} at ${seen.last_sequence_number}, attempt ${seen.attempt}`;
  faults.unless(seen.last_sequence_number < events.length, 'invariant 8', `${at}: not on disk`);
  faults.unless(seen.attempt <= task.attempt, 'R2', `${at}: the row has attempt ${task.attempt}`);
  const last = events.filter((e) => e.sequenceNumber <= seen.last_sequence_number && isLifecycleEvent(e.type)).at(-1);
  if (!last) return;
  const { task_status: status } = snapshotOf(last.payload).lmsp;
  faults.unless(status === seen.status, 'R2', `${at}: its log says ${status} there`);
}

/** R3: once a cancel was answered, the task can only become cancelled. */
function checkCancel({ task }: StoredTask, { status, outcome }: ObservedCancel, faults: Faults): void {
  if (status === 200) {
    const held = task.status === 'cancelled' || (task.status === 'cancelling' && outcome !== 'cancelled');
    faults.unless(held, 'R3', `a cancel was answered ${outcome}, and the task is ${task.status}`);
  }
  if (status === 400) {
    const ended = task.status === 'completed' || task.status === 'failed';
    faults.unless(ended, 'R3', `a cancel was refused as too late, and the task is ${task.status}`);
  }
}

/**
 * What a create came to: an answered one has exactly its task (R1), one whose answer was lost has at most one, and all
 * answers of one key name the same.
 */
export function createFaults(create: ObservedCreate, stored: readonly StoredTask[]): Fault[] {
  const faults = new Faults();
  faults.unless(stored.length <= 1, 'B6', `${stored.length} tasks came of one create`);
  const [task] = stored;
  for (const answered of create.tries.filter(({ taskId }) => taskId !== null)) {
    const same = task?.task.id === answered.taskId;
    faults.unless(same, 'R1', `${answered.taskId} was answered with ${answered.status} and is not on disk`);
    if (task && same) checkAnswer(create, answered, task, faults);
  }
  if (task) checkKept(create, task, faults);
  return faults.list;
}

function checkAnswer(
  create: ObservedCreate,
  { status, body }: ObservedCreate['tries'][number],
  stored: StoredTask,
  faults: Faults,
): void {
  if (body === null || create.streamed) return;
  if (create.background) {
    faults.unless(status === 202, 'R1', `a background create was answered ${status}`);
    const accepted = JSON.stringify(snapshotOf(stored.events[1]?.payload ?? '{}'));
    faults.unless(body === accepted, 'R1', 'the 202 is not the snapshot of event 1');
  } else if (status === 200) {
    faults.unless(body === stored.response?.body, 'invariant 3', 'the answer is not the stored response');
  } else {
    const { error } = JSON.parse(body) as { error: { code: string } };
    faults.unless(
      error.code === stored.task.error?.code,
      'C2',
      `${error.code} answered, not ${stored.task.error?.code}`,
    );
  }
}

function checkKept(create: ObservedCreate, { task, keys }: StoredTask, faults: Faults): void {
  faults.unless(task.background === create.background, 'R1', 'it is not in the place that was asked for');
  const asked = create.background ? create.onRestart : 'fail';
  faults.unless(asked === null || task.onRestart === asked, 'C1', `its policy is ${task.onRestart}, not ${asked}`);
  const bound = create.key === null || keys.length === 0 || keys.includes(create.key);
  faults.unless(bound, 'B6', 'another key is bound to it');
}
