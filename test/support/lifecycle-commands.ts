import type { Tx } from '../../src/database/index.js';
import { DomainError } from '../../src/errors/index.js';
import type { TaskLifecycleService } from '../../src/tasks/task-lifecycle.service.js';
import { TASK_TRANSITIONS, type TaskCommand, type Transition } from '../../src/tasks/task-transitions.js';
import type { Claim, Task } from '../../src/tasks/task.js';
import type { Found } from './task-lab.js';

/** Every command but the one that makes a task. */
export type Command = Exclude<TaskCommand, 'enqueue'>;
type Send = (lifecycle: TaskLifecycleService, tx: Tx, claim: Claim) => Promise<Task>;

export const COMMAND_ERROR = new DomainError('model_error', 'it broke').toBody();
export const NEW_OWNER = 'run_2';
const one = ([task]: Task[]): Task => task!;

/** Sends each command in the name of a claim. */
export const COMMANDS: Record<Command, Send> = {
  startLoading: (lifecycle, tx, { taskId }) => lifecycle.startLoading(tx, taskId, NEW_OWNER),
  start: (lifecycle, tx, { taskId }) => lifecycle.start(tx, taskId, NEW_OWNER),
  startLoaded: (lifecycle, tx, claim) => lifecycle.startLoaded(tx, claim),
  failLoading: (lifecycle, tx, claim) => lifecycle.failLoading(tx, claim, COMMAND_ERROR),
  complete: (lifecycle, tx, claim) => lifecycle.complete(tx, claim, { answer: 42 }),
  completeIncomplete: (lifecycle, tx, claim) => lifecycle.completeIncomplete(tx, claim),
  fail: (lifecycle, tx, claim) => lifecycle.fail(tx, claim, COMMAND_ERROR),
  cancelQueued: (lifecycle, tx, { taskId }) => lifecycle.cancelQueued(tx, taskId),
  requestCancel: (lifecycle, tx, { taskId }) => lifecycle.requestCancel(tx, taskId),
  confirmCancel: (lifecycle, tx, { taskId }) => lifecycle.confirmCancel(tx, taskId),
  failQueued: (lifecycle, tx, { taskId }) => lifecycle.failQueued(tx, taskId, COMMAND_ERROR),
  failUnowned: (lifecycle, tx, { taskId }) => lifecycle.failUnowned(tx, taskId, COMMAND_ERROR),
  requeueLost: (lifecycle, tx, claim) => lifecycle.requeueLost(tx, claim, { interruptions: 1, suspicion: 2 }),
  interruptLost: (lifecycle, tx, claim) => lifecycle.interruptLost(tx, claim, { interruptions: 1, suspicion: 2 }),
  reloadLost: (lifecycle, tx, claim) => lifecycle.reloadLost(tx, claim, NEW_OWNER),
  recoverFail: (lifecycle, tx, { taskId }) =>
    lifecycle.recover(tx, [{ command: 'recoverFail', taskIds: [taskId], error: COMMAND_ERROR }]).then(one),
  recoverRetry: (lifecycle, tx, { taskId }) =>
    lifecycle.recover(tx, [{ command: 'recoverRetry', taskIds: [taskId] }]).then(one),
  recoverResume: (lifecycle, tx, { taskId }) =>
    lifecycle.recover(tx, [{ command: 'recoverResume', taskIds: [taskId] }]).then(one),
  recoverCancel: (lifecycle, tx, { taskId }) =>
    lifecycle.recover(tx, [{ command: 'recoverCancel', taskIds: [taskId] }]).then(one),
  takeUp: (lifecycle, tx, { taskId }) => lifecycle.takeUp(tx, taskId, NEW_OWNER),
};

/** Whether the table lets the command take a task that is found so. */
export function allows(command: Command, found: Found): boolean {
  const { from, fenced, unownedOnly }: Transition = TASK_TRANSITIONS[command];
  const status = found === 'unowned' ? 'running' : found;
  if (found === 'unowned' && fenced) return false;
  return from.includes(status) && (!unownedOnly || found === 'unowned');
}
