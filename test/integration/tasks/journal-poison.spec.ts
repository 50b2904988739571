import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageFault } from '../../../src/database/index.js';
import type { TaskStep } from '../../../src/tasks/task-handlers.js';
import type { Task } from '../../../src/tasks/task.js';
import { JournalRefused } from '../../../src/tasks/tasks.errors.js';
import { claimOf, TaskLab } from '../../support/task-lab.js';

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open({ LMSP_STORAGE_WAIT_SECONDS: '1' });
  await lab.write((tx) =>
    tx.execute(`CREATE TRIGGER poison BEFORE INSERT ON task_events WHEN NEW.payload LIKE '%poison%'
      BEGIN SELECT RAISE(ABORT, 'poison'); END`),
  );
});
afterEach(() => lab.close());

function word(text: string): TaskStep {
  return { events: [{ type: 'scripted.word', payload: { text } }], snapshot: null };
}

async function words(id: string): Promise<string[]> {
  const events = (await lab.events(id)).filter((event) => event.type === 'scripted.word');
  return events.map((event) => (JSON.parse(event.payload) as { text: string }).text);
}

describe('a step that cannot be stored (HOUSE 4.8)', () => {
  it('leaves its neighbours in the batch whole; its own later steps are refused', async () => {
    const tasks: Task[] = [];
    for (let i = 0; i < 4; i += 1) tasks.push(await lab.bring('running'));
    const sick = tasks[1]!;
    const appended: Promise<void>[] = [];
    for (const text of ['a', 'b', 'c']) {
      for (const task of tasks) {
        appended.push(lab.journal.append(claimOf(task), word(task === sick && text === 'b' ? 'poison' : text)));
      }
    }
    const outcomes = await Promise.allSettled(appended);
    expect(outcomes.map(({ status }) => status)).toEqual(
      [0, 1, 2].flatMap((n) => tasks.map((task) => (task === sick && n > 0 ? 'rejected' : 'fulfilled'))),
    );
    for (const task of tasks) expect(await words(task.id)).toEqual(task === sick ? ['a'] : ['a', 'b', 'c']);
    await expect(lab.journal.append(claimOf(sick), word('d'))).rejects.toThrow(JournalRefused);
    expect(lab.journal.refusalOf(sick.id)?.code).toBe('server_error');
    expect(lab.journal.refusalOf(tasks[0]!.id)).toBeNull();
    expect(await lab.faults()).toEqual([]);
  });

  it('is stored not even in part, although only its last event is at fault', async () => {
    const task = await lab.bring('running');
    const events = ['good', 'poison'].map((text) => ({ type: 'scripted.word', payload: { text } }));
    await expect(lab.journal.append(claimOf(task), { events, snapshot: 'line' })).rejects.toThrow(JournalRefused);
    expect(await words(task.id)).toEqual([]);
    expect((await lab.task(task.id)).lastSequenceNumber).toBe(2);
    expect(await lab.store.reader.query('select * from task_snapshots')).toEqual([]);
  });

  it.each([
    ['awaits its steps', true],
    ['does not look at them', false],
  ])('WIRE B4 row 8: the task fails, its log without a hole, where its handler %s', async (_, looks) => {
    lab.handler.script = async (run) => {
      const appended = ['a', 'poison', 'b'].map((text) => run.append(word(text)));
      if (looks) await Promise.all(appended);
      else await Promise.allSettled(appended);
      return { kind: 'completed' };
    };
    const { id } = await lab.create();
    await lab.runner.start();
    await lab.stream.ended(id, new AbortController().signal);
    const task = await lab.task(id);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    expect(await words(id)).toEqual(['a']);
    expect((await lab.types(id)).slice(-2)).toEqual(['error', 'response.failed']);
    expect(await lab.faults()).toEqual([]);
  });

  it('WIRE B4 row 8: the task fails as well where the end takes the poisoned step along', async () => {
    lab.handler.script = (run) => {
      for (const text of ['a', 'poison', 'b']) run.append(word(text)).catch(() => undefined);
      return Promise.resolve({ kind: 'completed' });
    };
    const drafts = [lab.draft(), lab.draft()];
    await lab.write((tx) => lab.lifecycle.enqueue(tx, drafts));
    await lab.runner.start();
    for (const { id } of drafts) {
      await lab.stream.ended(id, new AbortController().signal);
      expect((await lab.task(id)).error?.code).toBe('server_error');
      expect(['a', '']).toContain((await words(id)).join());
    }
    await lab.runner.idle();
    expect(lab.handler.taken).toBe(0);
    expect(await lab.faults()).toEqual([]);
  });

  it('a later attempt of the task begins with a clean slate', async () => {
    const task = await lab.bring('running');
    await expect(lab.journal.append(claimOf(task), word('poison'))).rejects.toThrow(JournalRefused);
    lab.journal.forget(task.id);
    await lab.journal.append(claimOf(task), word('good'));
    expect(await words(task.id)).toEqual(['good']);
  });

  it('R3: a cancel of a task whose steps were refused ends it all the same', async () => {
    const task = await lab.bring('running');
    await expect(lab.journal.append(claimOf(task), word('poison'))).rejects.toThrow(JournalRefused);
    await expect(lab.cancellation.cancel(task.id)).resolves.toMatchObject({ status: 'cancelled' });
    expect(await lab.faults()).toEqual([]);
  });
});

describe('a full disk (CASES BL-15)', () => {
  it('steps wait until it has room again, and are then stored in order', async () => {
    const task = await lab.bring('running');
    await lab.fillDisk();
    const refused = await lab.write((tx) => lab.lifecycle.requestCancel(tx, task.id)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StorageFault);
    const appended = ['a', 'b', 'c'].map((text) => lab.journal.append(claimOf(task), word(text)));
    await lab.freeDisk();
    await Promise.all(appended);
    expect(await words(task.id)).toEqual(['a', 'b', 'c']);
    expect(await lab.faults()).toEqual([]);
  });

  it('WIRE B4 row 8: steps that have waited LMSP_STORAGE_WAIT_SECONDS are refused with storage_full', async () => {
    const task = await lab.bring('running');
    await lab.fillDisk();
    const first = lab.journal.append(claimOf(task), word('a'));
    await expect(first).rejects.toThrow(JournalRefused);
    await expect(lab.journal.append(claimOf(task), word('b'))).rejects.toMatchObject({ code: 'storage_full' });
    await lab.freeDisk();
    expect(await words(task.id)).toEqual([]);
    expect(await lab.faults()).toEqual([]);
  });
});
