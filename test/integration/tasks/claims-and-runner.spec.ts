import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Task } from '../../../src/tasks/task.js';
import { deferred, TaskLab } from '../../support/task-lab.js';
import { waitFor } from '../../support/wait-for.js';

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open();
});
afterEach(() => lab.close());

describe('claims (WIRE B4)', () => {
  it('at most as many tasks are claimed as there are seats; the others stay queued, untouched', async () => {
    const gate = deferred();
    lab.handler.seats = 2;
    lab.handler.script = () => gate.promise.then(() => ({ kind: 'completed' }));
    const tasks: Task[] = [];
    for (let i = 0; i < 5; i += 1) tasks.push(await lab.create());
    await lab.runner.start();
    await waitFor('two runs', async () => (await lab.types(tasks[1]!.id)).length === 3);
    expect(lab.runner.runs()).toHaveLength(2);
    for (const task of tasks.slice(2)) expect(await lab.task(task.id)).toEqual(task);
    gate.resolve();
    for (const { id } of tasks) await lab.stream.ended(id, new AbortController().signal);
    await lab.runner.idle();
    expect(lab.handler.taken).toBe(0);
    expect(await lab.faults()).toEqual([]);
  });

  it('nothing is looked for when a task joins a full lane; it has a seat that is given back', async () => {
    const gate = deferred();
    lab.handler.seats = 1;
    lab.handler.script = () => gate.promise.then(() => ({ kind: 'completed' }));
    for (let i = 0; i < 2; i += 1) await lab.create();
    await lab.runner.start();
    await waitFor(
      'a claim that was refused a seat',
      () => lab.runner.runs().length === 1 && lab.runner['lanes'].size === 0,
    );
    const looks = vi.spyOn(lab.handlers, 'find');
    const late = await lab.create();
    lab.runner.joined('scripted', null);
    expect(looks).not.toHaveBeenCalled();
    gate.resolve();
    await lab.stream.ended(late.id, new AbortController().signal);
    expect(looks).toHaveBeenCalled();
  });

  it('tasks are taken in the order of their creation', async () => {
    const order: string[] = [];
    lab.handler.seats = 1;
    lab.handler.script = ({ task }) => {
      order.push(task.id);
      return Promise.resolve({ kind: 'completed' });
    };
    const drafts = Array.from({ length: 20 }, () => lab.draft());
    await lab.write((tx) => lab.lifecycle.enqueue(tx, drafts));
    await lab.runner.start();
    await lab.stream.ended(drafts[19]!.id, new AbortController().signal);
    expect(order).toEqual(drafts.map(({ id }) => id));
  });

  it('nothing is claimed before the recovery has ended, although something wakes the lane', async () => {
    const task = await lab.create();
    lab.runner.wake('scripted', null);
    await lab.write((tx) => tx.query('select 1'));
    expect(await lab.task(task.id)).toEqual(task);
    await lab.runner.start();
    await lab.stream.ended(task.id, new AbortController().signal);
  });

  it('a lane of another model is not touched', async () => {
    const other = await lab.create({ model: 'other' });
    const mine = await lab.create();
    lab.handler.script = () => Promise.resolve({ kind: 'completed' });
    await lab.runner.start();
    await lab.stream.ended(mine.id, new AbortController().signal);
    await lab.stream.ended(other.id, new AbortController().signal);
    expect(await lab.queries.queuePosition(await lab.task(mine.id))).toBeNull();
  });

  it('a claim that fails gives its seats back, is told, waits a moment and is tried again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      const failed = deferred();
      let failures = 0;
      lab.notices.on('storage.retry', ({ fault }) => {
        expect(fault).toBe('full');
        failures += 1;
        failed.resolve();
      });
      const { id } = await lab.create();
      await lab.fillDisk();
      await lab.runner.start();
      await failed.promise;
      for (let i = 0; i < 20; i += 1) await lab.write((tx) => tx.query('select 1'));
      expect(failures, 'a freed seat must not turn a failing lane into a busy loop').toBe(1);
      expect(lab.handler.taken).toBe(0);
      expect(lab.runner.runs()).toEqual([]);
      await lab.freeDisk();
      vi.advanceTimersByTime(1000);
      await lab.stream.ended(id, new AbortController().signal);
      expect((await lab.task(id)).status).toBe('completed');
      expect((await lab.task(id)).attempt).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('a task that cannot be claimed holds up no other of its lane', async () => {
    const damaged = await lab.create();
    const before = await lab.found(damaged.id);
    const { id } = await lab.create();
    lab.handler.onProject = ({ task }) => {
      if (task.id === damaged.id) throw new Error('damaged');
    };
    await lab.runner.start();
    await lab.stream.ended(id, AbortSignal.timeout(5000));
    expect((await lab.task(id)).status).toBe('completed');
    expect(await lab.found(damaged.id)).toEqual(before);
    lab.handler.onProject = () => undefined;
  });

  it('tasks of a type that nobody has wait, which is told once, and can be cancelled', async () => {
    const missing: string[] = [];
    const failed: unknown[] = [];
    lab.notices.on('task.type_missing', ({ type }) => void missing.push(type));
    lab.notices.on('claim.failed', (notice) => void failed.push(notice));
    const { id } = await lab.create({ type: 'unheard-of' });
    await lab.runner.start();
    lab.runner.wake('unheard-of', null);
    const other = await lab.create();
    lab.runner.wake('scripted', null);
    await lab.stream.ended(other.id, AbortSignal.timeout(5000));
    expect([missing, failed, (await lab.task(id)).status]).toEqual([['unheard-of'], [], 'queued']);
    expect((await lab.cancellation.cancel(id)).status).toBe('cancelled');
    expect(await lab.faults()).toEqual([]);
  });
});

describe('waiting for the runs', () => {
  it('idle, asked in the middle of a claim, waits for the run of that claim and lets the event loop go on', async () => {
    const { id } = await lab.create();
    const idle = deferred<{ ended: Promise<void> }>();
    const add = lab.active.add.bind(lab.active);
    lab.active.add = (run) => {
      add(run);
      idle.resolve({ ended: lab.runner.idle() });
    };
    await lab.runner.start();
    await (
      await idle.promise
    ).ended;
    expect((await lab.task(id)).status).toBe('completed');
  });

  it('stopClaiming waits for the claim that is under way, so that no run begins behind its back', async () => {
    const gate = deferred();
    lab.handler.script = () => gate.promise.then(() => ({ kind: 'completed' }));
    const { id } = await lab.create();
    await lab.runner.start();
    await lab.runner.stopClaiming();
    const { task, events } = await lab.found(id);
    const claimed = lab.runner.runs().length === 1;
    expect(task.status).toBe(claimed ? 'running' : 'queued');
    lab.runner.wake('scripted', null);
    await lab.write((tx) => tx.query('select 1'));
    expect(await lab.events(id)).toEqual(events);
    gate.resolve();
    await lab.runner.idle();
    expect(await lab.faults()).toEqual([]);
  });

  it('progress is live while a task runs, and null before and after', async () => {
    const gate = deferred();
    const { id } = await lab.create();
    const progress = { phase: 'decode', load_fraction: null, prompt_tokens: 3, output_tokens: 1 };
    lab.handler.script = async (run) => {
      run.progress(progress);
      await gate.promise;
      return { kind: 'completed' };
    };
    expect(lab.runner.progressOf(id)).toBeNull();
    await lab.runner.start();
    await waitFor('progress', () => lab.runner.progressOf(id)?.phase === 'decode');
    expect(lab.runner.progressOf(id)).toEqual(progress);
    gate.resolve();
    await lab.runner.idle();
    expect(lab.runner.progressOf(id)).toBeNull();
  });
});
