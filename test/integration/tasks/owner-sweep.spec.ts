import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deferred, TaskLab } from '../../support/task-lab.js';
import { waitFor } from '../../support/wait-for.js';

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open();
});
afterEach(async () => {
  await lab.runner.idle();
  expect(await lab.faults()).toEqual([]);
  await lab.close();
});

const ended = (id: string): Promise<unknown> => lab.stream.ended(id, new AbortController().signal);

describe('the sweep for rows without a run (WIRE B4)', () => {
  const sweep = async (): Promise<string[]> => {
    const moved: string[] = [];
    await lab.sweep.sweep((type) => void moved.push(type));
    return moved;
  };

  it.each([
    ['loading', 'retry', 'queued'],
    ['loading', 'fail', 'failed'],
    ['running', 'retry', 'queued'],
    ['running', 'resume', 'running'],
    ['running', 'fail', 'failed'],
    ['cancelling', 'retry', 'cancelled'],
  ] as const)('a row found %s with policy %s becomes %s, owned by nobody', async (found, onRestart, status) => {
    const { id } = await lab.bring(found, { onRestart });
    expect(await sweep()).toEqual(['scripted']);
    expect(await lab.task(id)).toMatchObject({ status, owner: null });
    expect(await sweep(), 'nothing is moved twice').toEqual([]);
  });

  it('rows of living runs, waiting and ended ones are not touched', async () => {
    const gate = deferred();
    lab.handler.script = () => gate.promise.then(() => ({ kind: 'completed' }));
    const live = await lab.create();
    await lab.runner.start();
    await waitFor('the run', async () => (await lab.task(live.id)).status === 'running');
    const still = [
      live,
      await lab.bring('unowned', { onRestart: 'resume', model: 'other' }),
      await lab.bring('completed'),
    ];
    const before = await Promise.all(still.map(({ id }) => lab.found(id)));
    expect(await sweep()).toEqual([]);
    expect(await Promise.all(still.map(({ id }) => lab.found(id)))).toEqual(before);
    gate.resolve();
    await ended(live.id);
  });

  it('a row that cannot be moved is told once and holds up no other', async () => {
    const damaged = await lab.bring('running');
    const other = await lab.bring('running');
    const faults: string[] = [];
    lab.notices.on('task.fault', ({ task_id }) => void faults.push(task_id));
    lab.handler.onProject = ({ task }) => {
      if (task.id === damaged.id) throw new Error('damaged');
    };
    await sweep();
    await sweep();
    expect(faults).toEqual([damaged.id]);
    expect((await lab.task(other.id)).status).toBe('queued');
    lab.handler.onProject = () => undefined;
  });
});
