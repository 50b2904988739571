import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FAILED_IN_PLACE } from '../../../src/tasks/hooks/task-hooks.js';
import { isTerminal, TASK_STATUSES, TASK_TRANSITIONS, type Transition } from '../../../src/tasks/task-transitions.js';
import { allows, COMMANDS, type Command } from '../../support/lifecycle-commands.js';
import { logFaults } from '../../../src/testing/log-invariants.js';
import { NotingRecorder } from '../../support/noting-recorder.js';
import { claimOf, TaskLab, type Found } from '../../support/task-lab.js';

let lab: TaskLab;
let recorder: NotingRecorder;
beforeAll(async () => {
  lab = await TaskLab.open();
  recorder = await NotingRecorder.in(lab);
});
beforeEach(() => {
  recorder.fails = () => false;
});
afterAll(() => lab.close());

async function logIsWhole(id: string): Promise<void> {
  const { task, events } = await lab.found(id);
  expect(logFaults(task, events)).toEqual([]);
}

const STATES: Found[] = [...TASK_STATUSES, 'unowned'];
const CELLS = STATES.flatMap((found) =>
  (Object.keys(COMMANDS) as Command[])
    .filter((command) => allows(command, found))
    .map((command) => ({ found, command })),
);
const REPLACED = CELLS.filter(({ command }) => command in FAILED_IN_PLACE);
const KEPT = CELLS.filter(({ command }) => !(command in FAILED_IN_PLACE));
const TRIED = ['tried_again', 'tried_again'];

const send = (command: Command, id: string) =>
  lab.task(id).then((task) => lab.write((tx) => COMMANDS[command](lab.lifecycle, tx, claimOf(task))));

describe('a recorder (HOUSE 3.5)', () => {
  it('of the commands that are not replaced, each is an end, the cancel, or of recovery', () => {
    const others = KEPT.filter(({ command }) => {
      const { row, to }: Transition = TASK_TRANSITIONS[command];
      return !isTerminal(to) && row !== 10 && !(row >= 16 && row <= 19);
    });
    expect(others).toEqual([]);
  });

  it.each(CELLS)('writes with $command of a $found task what it was and what it became', async ({ found, command }) => {
    const before = await lab.bring(found);
    const after = await send(command, before.id);
    expect((await recorder.notes(before.id)).at(-1)).toBe(`${command}: ${before.status}→${after.status}`);
    expect(recorder.calls.at(-1)).toMatchObject({
      event: (await lab.types(before.id)).length === before.lastSequenceNumber + 1 ? null : expect.any(String),
      sequenceNumber: after.lastSequenceNumber,
      task: { id: before.id, clientId: 'cli_test', status: after.status, attempt: after.attempt },
    });
    expect(recorder.outcomes(before.id)).toEqual([]);
  });

  it.each(KEPT)('that fails at $command of a $found task three times is left out of it', async ({ found, command }) => {
    const before = await lab.bring(found);
    const notes = await recorder.notes(before.id);
    recorder.fails = (transition) => transition.command === command;
    const after = await send(command, before.id);
    expect(after.status).toBe(TASK_TRANSITIONS[command].to);
    expect(await recorder.notes(before.id)).toEqual(notes);
    expect(recorder.outcomes(before.id)).toEqual([...TRIED, 'omitted']);
    await logIsWhole(before.id);
  });

  it.each(REPLACED)('that fails at $command of a $found task fails it instead', async ({ found, command }) => {
    const before = await lab.bring(found);
    const notes = await recorder.notes(before.id);
    recorder.fails = (transition) => transition.command === command;
    const answered = await send(command, before.id);
    const { task, events } = await lab.found(before.id);
    expect(answered).toEqual(task);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'recorder_failed' }, owner: null });
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
    expect(await recorder.notes(before.id)).toEqual([
      ...notes,
      `${(FAILED_IN_PLACE as Record<string, string>)[command]}: ${before.status}→failed`,
    ]);
    expect(recorder.outcomes(before.id)).toEqual([...TRIED, 'replaced']);
    await logIsWhole(before.id);
  });

  it.each(REPLACED)('that fails at everything cannot keep $command from ending', async ({ found, command }) => {
    const before = await lab.bring(found);
    const notes = await recorder.notes(before.id);
    recorder.fails = () => true;
    await send(command, before.id);
    expect((await lab.task(before.id)).error?.code).toBe('recorder_failed');
    expect(await recorder.notes(before.id)).toEqual(notes);
    expect(recorder.outcomes(before.id)).toEqual([...TRIED, 'replaced', 'omitted']);
    await logIsWhole(before.id);
  });

  it('that fails twice and then does not has lost nothing', async () => {
    const { id } = await lab.bring('queued');
    let left = 2;
    recorder.fails = () => left-- > 0;
    await send('start', id);
    expect((await lab.task(id)).status).toBe('running');
    expect(await recorder.notes(id)).toEqual(['enqueue: –→queued', 'start: queued→running']);
    expect(recorder.outcomes(id)).toEqual(TRIED);
  });

  it('is not blamed for a full disk', async () => {
    const { id } = await lab.bring('running');
    await lab.fillDisk();
    await expect(send('requestCancel', id)).rejects.toMatchObject({ code: 'storage_full' });
    await lab.freeDisk();
    expect(recorder.outcomes(id)).toEqual([]);
    await send('requestCancel', id);
    expect((await recorder.notes(id)).at(-1)).toBe('requestCancel: running→cancelling');
  });
  it('that fails keeps no other from recording the end', async () => {
    const ends: string[] = [];
    lab.recorders.register('other', {
      record: (_tx, { to }) =>
        to === 'cancelled' ? Promise.reject(new Error('no')) : Promise.resolve(void ends.push(to)),
    });
    const { id } = await lab.bring('queued');
    await send('cancelQueued', id);
    expect(await recorder.notes(id)).toEqual(['enqueue: –→queued', 'cancelQueued: queued→cancelled']);
    expect(ends).toEqual(['queued']);
  });

  it('that forgets to await its statement is found out and left out', async () => {
    const { id } = await lab.bring('queued');
    lab.recorders.register('hasty', {
      record: (tx) => {
        void tx.execute(`INSERT INTO notes (task_id) VALUES ('hasty')`).catch(() => undefined);
        return Promise.resolve();
      },
    });
    await send('cancelQueued', id);
    expect((await lab.task(id)).status).toBe('cancelled');
    expect(await recorder.notes('hasty')).toEqual([]);
    expect(recorder.outcomes(id)).toContain('omitted');
    await logIsWhole(id);
  });
});
