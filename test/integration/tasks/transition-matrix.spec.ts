import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isTerminal, TASK_STATUSES, TASK_TRANSITIONS, type Transition } from '../../../src/tasks/task-transitions.js';
import type { Claim, Task } from '../../../src/tasks/task.js';
import { TaskNotFound, TransitionRefused } from '../../../src/tasks/tasks.errors.js';
import { logFaults } from '../../../src/testing/log-invariants.js';
import { allows, COMMAND_ERROR, COMMANDS, NEW_OWNER, type Command } from '../../support/lifecycle-commands.js';
import { claimOf, TaskLab, type Found } from '../../support/task-lab.js';

const STATES: Found[] = [...TASK_STATUSES, 'unowned'];
const cells = STATES.flatMap((found) => (Object.keys(COMMANDS) as Command[]).map((command) => ({ found, command })));

let lab: TaskLab;
beforeAll(async () => {
  lab = await TaskLab.open();
});
afterAll(() => lab.close());

async function refused(command: Command, task: Task, claim: Claim): Promise<void> {
  const before = await lab.found(task.id);
  const attempt = lab.write((tx) => COMMANDS[command](lab.lifecycle, tx, claim));
  await expect(attempt).rejects.toBeInstanceOf(TransitionRefused);
  await expect(attempt).rejects.toMatchObject({ command, taskId: task.id, status: task.status });
  expect(await lab.found(task.id)).toEqual(before);
}

describe('every status × every command', () => {
  it.each(cells.filter(({ found, command }) => allows(command, found)))(
    'WIRE B4: $command takes a task that is $found where its row says, with its events in the same transaction (R2)',
    async ({ found, command }) => {
      const transition: Transition = TASK_TRANSITIONS[command];
      const before = await lab.bring(found);
      const log = await lab.events(before.id);
      const answered = await lab.write((tx) => COMMANDS[command](lab.lifecycle, tx, claimOf(before)));
      const { task, events } = await lab.found(before.id);

      expect(answered).toEqual(task);
      expect(task.status).toBe(transition.to);
      expect(task.owner).toBe({ set: NEW_OWNER, clear: null, keep: before.owner }[transition.owner]);
      expect(task.attempt).toBe(before.attempt + (transition.raisesAttempt ? 1 : 0));
      expect(task.startCount).toBe(before.startCount + (transition.startsOver ? 1 : 0));
      expect(task.lastSequenceNumber).toBe(before.lastSequenceNumber + transition.events.length);
      expect(events.slice(0, log.length)).toEqual(log);
      expect(events.slice(log.length).map((event) => event.type)).toEqual(transition.events);
      expect(task.finishedAt !== null).toBe(isTerminal(transition.to));
      expect(task.error).toEqual(transition.to === 'failed' ? COMMAND_ERROR : null);
      expect(task.result).toEqual(command === 'complete' ? { answer: 42 } : null);
      expect(task.interruptions - before.interruptions).toBe(/^(requeue|interrupt)Lost$/.test(command) ? 1 : 0);
      if (transition.to === 'running') expect(task.startedAt).not.toBeNull();
      if (transition.to === 'queued') expect(task.startedAt).toBeNull();
      if (command === 'requestCancel' || command === 'cancelQueued') expect(task.cancelRequestedAt).not.toBeNull();
      expect(logFaults(task, events)).toEqual([]);
    },
  );

  it.each(cells.filter(({ found, command }) => !allows(command, found)))(
    'WIRE B4: $command refuses a task that is $found, and neither a column nor an event has changed',
    async ({ found, command }) => {
      const task = await lab.bring(found);
      await refused(command, task, claimOf(task));
    },
  );
});

const fenced = cells.filter(({ found, command }) => TASK_TRANSITIONS[command].fenced && allows(command, found));

describe('fencing (HOUSE 4.6)', () => {
  it.each(fenced)('$command of an attempt that has passed changes nothing of a $found task', async (cell) => {
    const task = await lab.bring(cell.found);
    await refused(cell.command, task, { ...claimOf(task), attempt: task.attempt - 1 });
  });

  it.each(fenced)('$command of another owner changes nothing of a $found task', async (cell) => {
    const task = await lab.bring(cell.found);
    await refused(cell.command, task, { ...claimOf(task), owner: 'run_9' });
  });

  it('confirmCancel of a run that names a former attempt changes nothing', async () => {
    const task = await lab.bring('cancelling');
    const before = await lab.found(task.id);
    const stale = { ...claimOf(task), attempt: 0 };
    await expect(lab.write((tx) => lab.lifecycle.confirmCancel(tx, task.id, stale))).rejects.toThrow(TransitionRefused);
    expect(await lab.found(task.id)).toEqual(before);
    await lab.write((tx) => lab.lifecycle.confirmCancel(tx, task.id, claimOf(task)));
    expect((await lab.task(task.id)).status).toBe('cancelled');
  });

  it.each(Object.keys(COMMANDS) as Command[])(
    '%s of a task that does not exist says task_not_found',
    async (command) => {
      const claim = { taskId: 'task_absent', attempt: 1, owner: 'run_1' };
      const attempt = lab.write((tx) => COMMANDS[command](lab.lifecycle, tx, claim));
      await expect(attempt).rejects.toThrow(TaskNotFound);
      await expect(attempt).rejects.toMatchObject({ code: 'task_not_found' });
    },
  );
});
