import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NoticeTypes } from '../../../src/notices/index.js';
import { insertTask } from '../../support/store.js';
import { claimOf, TaskLab } from '../../support/task-lab.js';

let lab: TaskLab;
const transitions: NoticeTypes['task.transition'][] = [];
beforeAll(async () => {
  lab = await TaskLab.open();
  lab.notices.on('task.transition', (notice) => void transitions.push(notice));
});
afterAll(() => lab.close());

describe('accepting (WIRE B4 row 1)', () => {
  it('R1: a task is on disk with its events 0 and 1 when the unit has ended', async () => {
    const draft = lab.draft({
      metadata: { a: 'b' },
      input: { text: 'größer 漢字' },
      model: 'pocket',
      onRestart: 'resume',
      background: false,
      maxInterruptions: 7,
      view: JSON.stringify({ task: { hello: 'world' } }),
    });
    const [task] = await lab.write((tx) => lab.lifecycle.enqueue(tx, [draft]));
    expect(await lab.task(draft.id)).toEqual(task);
    expect(task).toMatchObject({
      status: 'queued',
      metadata: { a: 'b' },
      input: { text: 'größer 漢字' },
      model: 'pocket',
      onRestart: 'resume',
      background: false,
      attempt: 0,
      startCount: 0,
      interruptions: 0,
      maxInterruptions: 7,
      owner: null,
      lastSequenceNumber: 1,
      finishedAt: null,
    });
    expect((await lab.events(draft.id)).map(({ payload }) => payload)).toEqual([
      '{"type":"response.created","sequence_number":0,"task":{"hello":"world"}}',
      '{"type":"response.queued","sequence_number":1,"task":{"hello":"world"}}',
    ]);
  });

  it('many are accepted in one unit, in order, each with a log of its own', async () => {
    const drafts = Array.from({ length: 300 }, () => lab.draft());
    const tasks = await lab.write((tx) => lab.lifecycle.enqueue(tx, drafts));
    expect(tasks.map(({ id }) => id)).toEqual(drafts.map(({ id }) => id));
    const positions = tasks.map(({ position }) => position);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(await lab.faults()).toEqual([]);
  });

  it('R2: one that cannot be accepted takes the others of its unit with it: no row, no event', async () => {
    const good = lab.draft();
    const twice = lab.draft();
    await expect(lab.write((tx) => lab.lifecycle.enqueue(tx, [good, twice, twice]))).rejects.toThrow();
    const rows = await lab.store.reader.query('select id from tasks where id in (?, ?)', [good.id, twice.id]);
    expect(rows).toEqual([]);
    expect(await lab.events(good.id)).toEqual([]);
  });

  it('none is nothing', async () => {
    expect(await lab.write((tx) => lab.lifecycle.enqueue(tx, []))).toEqual([]);
  });
});

describe('one transaction for status, number, event and view', () => {
  it('R2, C4: where the view throws, nothing has changed and nothing is told', async () => {
    const task = await lab.bring('running');
    const before = await lab.found(task.id);
    const told = transitions.length;
    lab.handler.onProject = () => {
      throw new Error('broken');
    };
    await expect(lab.write((tx) => lab.lifecycle.complete(tx, claimOf(task), null))).rejects.toThrow('broken');
    lab.handler.onProject = () => undefined;
    expect(await lab.found(task.id)).toEqual(before);
    expect(transitions).toHaveLength(told);
  });

  it('the view is asked with the row as it is after the change, and the number its event gets', async () => {
    const task = await lab.bring('running');
    const changes: unknown[] = [];
    lab.handler.onProject = ({ task: { status, attempt }, event, sequenceNumber }) =>
      void changes.push([status, attempt, event, sequenceNumber]);
    await lab.write((tx) =>
      lab.lifecycle.fail(tx, claimOf(task), { type: 'server_error', code: 'x', message: 'y', param: null }),
    );
    lab.handler.onProject = () => undefined;
    expect(changes).toEqual([['failed', 1, 'response.failed', 4]]);
  });

  it('each transition is told once, after its commit, with the time since creation exactly at an end', async () => {
    transitions.length = 0;
    const { id } = await lab.bring('completed');
    const mine = transitions.filter((notice) => notice.task_id === id);
    expect(mine.map(({ command, to, attempt }) => [command, to, attempt])).toEqual([
      ['enqueue', 'queued', 0],
      ['start', 'running', 1],
      ['complete', 'completed', 1],
    ]);
    expect(mine.map(({ duration_ms }) => duration_ms === null)).toEqual([true, true, false]);
    expect(mine.map(({ from }) => from)).toEqual([null, 'queued', 'running']);
  });
});

describe('what the database refuses by itself', () => {
  it.each(['queued', 'loading', 'running', 'cancelling'] as const)('R5: a %s task cannot be removed', async (found) => {
    const task = await lab.bring(found);
    const before = await lab.found(task.id);
    await expect(lab.write((tx) => lab.lifecycle.remove(tx, task.id))).rejects.toThrow('unfinished');
    expect(await lab.found(task.id)).toEqual(before);
  });

  it('a finished task is removed with its events and snapshots', async () => {
    const task = await lab.bring('running');
    await lab.journal.append(claimOf(task), { events: [], snapshot: 'line' });
    await lab.write((tx) => lab.lifecycle.complete(tx, claimOf(task), null));
    await lab.write((tx) => lab.lifecycle.remove(tx, task.id));
    expect(await lab.events(task.id)).toEqual([]);
    expect(await lab.store.reader.query('select * from task_snapshots where task_id = ?', [task.id])).toEqual([]);
    await expect(lab.task(task.id)).rejects.toThrow();
  });

  it('invariant 9: an event cannot be changed', async () => {
    const { id } = await lab.bring('completed');
    const update = lab.write((tx) => tx.execute(`UPDATE task_events SET payload = '{}' WHERE task_id = ?`, [id]));
    await expect(update).rejects.toThrow('immutable');
  });

  it('HOUSE 5: the row of a task that claims an end it does not have is refused', async () => {
    await expect(lab.write((tx) => insertTask(tx, { id: 'task_x', status: 'completed' }))).rejects.toThrow();
    await expect(lab.write((tx) => insertTask(tx, { id: 'task_x', finished_at: 1 }))).rejects.toThrow();
    await expect(lab.write((tx) => insertTask(tx, { id: 'task_x', status: 'unheard-of' }))).rejects.toThrow();
  });
});
