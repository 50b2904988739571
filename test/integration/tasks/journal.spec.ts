import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskStep } from '../../../src/tasks/task-handlers.js';
import { readSnapshot, type StoredEvent } from '../../../src/tasks/task-log.js';
import type { Claim, Task } from '../../../src/tasks/task.js';
import { StaleClaim } from '../../../src/tasks/tasks.errors.js';
import { claimOf, TaskLab } from '../../support/task-lab.js';

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open();
});
afterEach(() => lab.close());

function word(text: string, snapshot: string | null = text): TaskStep {
  return { events: [{ type: 'scripted.word', payload: { text } }], snapshot };
}

async function words(id: string): Promise<string[]> {
  const events = (await lab.events(id)).filter((event) => event.type === 'scripted.word');
  return events.map((event) => (JSON.parse(event.payload) as { text: string }).text);
}

function countUnits(): () => number {
  const { units } = lab.store;
  const run = units.run.bind(units);
  let count = 0;
  units.run = (work) => {
    count += 1;
    return run(work);
  };
  return () => count;
}

describe('steps on their way to disk (HOUSE 4.8)', () => {
  it('steps of many tasks that arrive together share one commit, each log in its own order', async () => {
    const tasks: Task[] = [];
    for (let i = 0; i < 8; i += 1) tasks.push(await lab.bring('running'));
    const units = countUnits();
    const appended: Promise<void>[] = [];
    for (let n = 0; n < 20; n += 1) {
      for (const task of tasks) appended.push(lab.journal.append(claimOf(task), word(`${n}`)));
    }
    await Promise.all(appended);
    expect(units()).toBe(1);
    for (const { id } of tasks) {
      expect(await words(id)).toEqual(Array.from({ length: 20 }, (_, n) => `${n}`));
      expect((await lab.task(id)).lastSequenceNumber).toBe(22);
    }
    expect(await lab.faults()).toEqual([]);
  });

  it('invariant 8: a step is written whole: all its events, and its snapshot line with the last number', async () => {
    const task = await lab.bring('running');
    const events = ['a', 'b', 'c'].map((text) => ({ type: 'scripted.word', payload: { text } }));
    await lab.journal.append(claimOf(task), { events, snapshot: 'line 1' });
    await lab.journal.append(claimOf(task), { events: [], snapshot: 'line 2' });
    await lab.journal.append(claimOf(task), { events: [], snapshot: null });
    const rows = await lab.store.reader.query('select start_count, last_sequence_number, payload from task_snapshots');
    expect(rows).toEqual([
      { start_count: 0, last_sequence_number: 5, payload: 'line 1' },
      { start_count: 0, last_sequence_number: 5, payload: 'line 2' },
    ]);
    expect(await readSnapshot(lab.store.reader, task.id, 0)).toEqual(['line 1', 'line 2']);
    expect(await readSnapshot(lab.store.reader, task.id, 1)).toEqual([]);
    expect(await lab.faults()).toEqual([]);
  });

  it('invariant 9: the payload is stored as JSON names it, whatever the text holds', async () => {
    const task = await lab.bring('running');
    const texts = ['\u0000', '"\\', '\n', 'größer 漢字 👩‍👩‍👧', '\ud800', '', '123', 'null'];
    for (const text of texts) await lab.journal.append(claimOf(task), word(text, null));
    expect(await words(task.id)).toEqual(texts);
    const [event] = (await lab.events(task.id)).slice(-1);
    expect(event?.payload).toBe('{"type":"scripted.word","sequence_number":10,"text":"null"}');
  });

  it('invariant 8: readers hear of a step only when it is on disk', async () => {
    const task = await lab.bring('running');
    const heard: Promise<{ events: StoredEvent[]; disk: StoredEvent[] }>[] = [];
    const publish = lab.feed.publish.bind(lab.feed);
    lab.feed.publish = (id, events) => {
      heard.push(lab.events(id).then((disk) => ({ events, disk })));
      publish(id, events);
    };
    for (let i = 0; i < 50; i += 1) void lab.journal.append(claimOf(task), word(`${i}`));
    await lab.write((tx) => lab.lifecycle.complete(tx, claimOf(task), null));
    const numbers: number[] = [];
    for (const { events, disk } of await Promise.all(heard)) {
      for (const event of events) expect(disk[event.sequenceNumber]).toEqual(event);
      numbers.push(...events.map((event) => event.sequenceNumber));
    }
    expect(numbers).toEqual(Array.from({ length: 51 }, (_, i) => i + 3));
  });

  it('invariant 8: what is rolled back is never heard', async () => {
    const task = await lab.bring('running');
    const heard = lab.feed.subscribe(task.id, 100);
    const unit = lab.write(async (tx) => {
      await lab.lifecycle.complete(tx, claimOf(task), null);
      throw new Error('rolled back');
    });
    await expect(unit).rejects.toThrow('rolled back');
    expect(heard.take()).toEqual([]);
    heard.close();
  });
});

describe('stale claims (HOUSE 4.6)', () => {
  const stale: [string, (claim: Claim) => Claim][] = [
    ['a former attempt', (claim) => ({ ...claim, attempt: claim.attempt - 1 })],
    ['another owner', (claim) => ({ ...claim, owner: 'run_9' })],
    ['a task that does not exist', (claim) => ({ ...claim, taskId: 'task_absent' })],
  ];

  it.each(stale)('a step of %s writes nothing, beside a good one that is stored', async (_, change) => {
    const task = await lab.bring('running');
    const before = await lab.found(task.id);
    const refused = lab.journal.append(change(claimOf(task)), word('stale'));
    await expect(refused).rejects.toThrow(StaleClaim);
    expect(await lab.found(task.id)).toEqual(before);
    const both = [
      lab.journal.append(change(claimOf(task)), word('stale')),
      lab.journal.append(claimOf(task), word('good')),
    ];
    const [first, second] = await Promise.allSettled(both);
    expect(first).toMatchObject({ status: 'rejected', reason: expect.any(StaleClaim) });
    expect(second?.status).toBe('fulfilled');
    expect(await words(task.id)).toEqual(['good']);
    expect(await lab.faults()).toEqual([]);
  });

  it.each(['queued', 'loading', 'cancelling', 'completed', 'unowned'] as const)(
    'a step of a task that is %s writes nothing',
    async (found) => {
      const task = await lab.bring(found);
      const before = await lab.found(task.id);
      await expect(lab.journal.append(claimOf(task), word('late'))).rejects.toThrow(StaleClaim);
      expect(await lab.found(task.id)).toEqual(before);
    },
  );

  it('R3: a step that waits behind a cancel is dropped, one before it stays', async () => {
    const task = await lab.bring('running');
    const before = lab.journal.append(claimOf(task), word('before'));
    await lab.write((tx) => lab.lifecycle.requestCancel(tx, task.id));
    await before;
    await expect(lab.journal.append(claimOf(task), word('behind'))).rejects.toThrow(StaleClaim);
    expect(await words(task.id)).toEqual(['before']);
  });
});

describe('transitions and waiting steps', () => {
  it('invariant 8: the last steps and the end of a task share one transaction, the steps first', async () => {
    const task = await lab.bring('running');
    const units = countUnits();
    const appended = ['a', 'b', 'c'].map((text) => lab.journal.append(claimOf(task), word(text)));
    await lab.write((tx) => lab.lifecycle.complete(tx, claimOf(task), null));
    await Promise.all(appended);
    await lab.journal.drained();
    expect((await lab.types(task.id)).slice(3)).toEqual([
      'scripted.word',
      'scripted.word',
      'scripted.word',
      'response.completed',
    ]);
    expect(units(), 'the transition, and the batch that found nothing left').toBeLessThanOrEqual(2);
    expect(await lab.faults()).toEqual([]);
  });

  it('steps that a rolled-back transition had taken wait again and are stored, in order', async () => {
    const task = await lab.bring('running');
    const other = await lab.bring('running');
    const appended = ['a', 'b', 'c'].map((text) => lab.journal.append(claimOf(task), word(text)));
    appended.push(lab.journal.append(claimOf(other), word('neighbour')));
    const unit = lab.write(async (tx) => {
      await lab.lifecycle.complete(tx, claimOf(task), null);
      throw new Error('rolled back');
    });
    appended.push(lab.journal.append(claimOf(task), word('d')));
    await expect(unit).rejects.toThrow('rolled back');
    await Promise.all(appended);
    expect(await words(task.id)).toEqual(['a', 'b', 'c', 'd']);
    expect(await words(other.id)).toEqual(['neighbour']);
    expect((await lab.task(task.id)).status).toBe('running');
    expect(await lab.faults()).toEqual([]);
  });

  it('a stale step that a transition takes along is refused, and the transition stands', async () => {
    const task = await lab.bring('running');
    const stale = lab.journal.append({ ...claimOf(task), attempt: 0 }, word('stale'));
    const good = lab.journal.append(claimOf(task), word('good'));
    const settled = Promise.allSettled([stale, good]);
    await lab.write((tx) => lab.lifecycle.complete(tx, claimOf(task), null));
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(await words(task.id)).toEqual(['good']);
    expect((await lab.task(task.id)).status).toBe('completed');
  });

  it('drained resolves when every step has been stored or refused', async () => {
    const task = await lab.bring('running');
    void lab.journal.append(claimOf(task), word('a'));
    lab.journal.append({ ...claimOf(task), attempt: 0 }, word('stale')).catch(() => undefined);
    await lab.journal.drained();
    expect(await words(task.id)).toEqual(['a']);
  });
});
