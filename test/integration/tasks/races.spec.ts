import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Task } from '../../../src/tasks/task.js';
import { isTerminalEvent } from '../../../src/tasks/task-transitions.js';
import { claimOf, deferred, TaskLab } from '../../support/task-lab.js';

const ROUNDS = 300;
const WORD = { events: [{ type: 'scripted.word', payload: {} }], snapshot: null };

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open({ LMSP_CANCEL_WAIT_MS: '20000' });
});
afterEach(async () => {
  await lab.runner.idle();
  expect(await lab.faults()).toEqual([]);
  await lab.close();
});

/** Starts both in one tick, the second one first in every other round. */
async function race<A, B>(round: number, first: () => Promise<A>, second: () => Promise<B>) {
  const started: Promise<unknown>[] = [];
  const calls = round % 2 ? [second, first] : [first, second];
  for (const call of calls) started.push(call());
  const settled = await Promise.allSettled(started);
  return (round % 2 ? settled.reverse() : settled) as [PromiseSettledResult<A>, PromiseSettledResult<B>];
}

async function exactlyOneEnd(id: string): Promise<Task> {
  const { task, events } = await lab.found(id);
  expect(events.filter(({ type }) => isTerminalEvent(type))).toHaveLength(1);
  expect(isTerminalEvent(events.at(-1)?.type ?? '')).toBe(true);
  return task;
}

describe('races, in both orders (CASES BL-04)', () => {
  it('R3: cancel against complete has one winner, and the answers agree with it', async () => {
    const ends = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const task = await lab.bring('running');
      const [cancelled, completed] = await race(
        round,
        () => lab.cancellation.cancel(task.id),
        () => lab.write((tx) => lab.lifecycle.complete(tx, claimOf(task), null)),
      );
      const { status } = await exactlyOneEnd(task.id);
      ends.add(status);
      expect([cancelled.status, completed.status]).toEqual(
        status === 'cancelled' ? ['fulfilled', 'rejected'] : ['rejected', 'fulfilled'],
      );
    }
    expect([...ends].sort()).toEqual(['cancelled', 'completed']);
  });

  it('R3: cancel against a run that completes in the same moment, its last step still on the way', async () => {
    const ends = new Map<string, number>();
    lab.handler.seats = 1;
    for (let round = 0; round < ROUNDS; round += 1) {
      const begun = deferred();
      const gate = deferred();
      lab.handler.script = async (run) => {
        begun.resolve();
        await gate.promise;
        run.append(WORD).catch(() => undefined);
        return { kind: 'completed' };
      };
      const { id } = await lab.create();
      await lab.runner.start();
      await begun.promise;
      const [answer] = await race(
        round,
        () => lab.cancellation.cancel(id),
        async () => {
          // The run needs a few turns from here to its end: let the cancel start before, between and behind them.
          for (let turn = 0; turn < round % 7; turn += 1) await Promise.resolve();
          gate.resolve();
          await lab.stream.ended(id, new AbortController().signal);
        },
      );
      const { status } = await exactlyOneEnd(id);
      ends.set(status, (ends.get(status) ?? 0) + 1);
      if (answer.status === 'fulfilled') expect(answer.value.status).toBe(status);
      else expect(answer.reason).toMatchObject({ code: 'task_not_cancellable' });
    }
    await lab.runner.idle();
    expect(lab.handler.taken).toBe(0);
    expect([...ends.keys()].filter((status) => !['cancelled', 'completed'].includes(status))).toEqual([]);
  });

  it.each(['queued', 'running'] as const)('two cancels of a %s task both answer cancelled; one end', async (found) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await lab.bring(found);
      const answers = await Promise.all([lab.cancellation.cancel(id), lab.cancellation.cancel(id)]);
      expect(answers.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
      expect((await exactlyOneEnd(id)).status).toBe('cancelled');
    }
  });

  it('R3: cancel against claim: the task is cancelled, before or after its run began', async () => {
    lab.handler.script = (run) =>
      new Promise((resolve) => {
        const stop = (): void => resolve({ kind: 'aborted' });
        if (run.signal.aborted) stop();
        else run.signal.addEventListener('abort', stop);
      });
    await lab.runner.start();
    const attempts = new Set<number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await lab.create();
      const [answer] = await race(
        round,
        () => lab.cancellation.cancel(id),
        async () => lab.runner.wake('scripted', null),
      );
      expect(answer).toMatchObject({ status: 'fulfilled', value: { status: 'cancelled' } });
      attempts.add((await exactlyOneEnd(id)).attempt);
    }
    await lab.runner.stopClaiming();
    await lab.runner.idle();
    expect(lab.handler.taken).toBe(0);
    expect([...attempts].every((attempt) => attempt <= 1)).toBe(true);
  });

  it('create against claim: every task is run once, however its creation and the claims fall together', async () => {
    const runs = new Map<string, number>();
    lab.handler.script = async ({ task }) => {
      runs.set(task.id, (runs.get(task.id) ?? 0) + 1);
      return { kind: 'completed' };
    };
    await lab.runner.start();
    const ids: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [created] = await race(
        round,
        async () => {
          const task = await lab.create();
          lab.runner.wake('scripted', null);
          return task;
        },
        async () => lab.runner.wake('scripted', null),
      );
      if (created.status === 'fulfilled') ids.push(created.value.id);
    }
    for (const id of ids) await lab.stream.ended(id, new AbortController().signal);
    expect(ids).toHaveLength(ROUNDS);
    for (const id of ids) {
      expect(await exactlyOneEnd(id)).toMatchObject({ status: 'completed', attempt: 1 });
      expect(runs.get(id)).toBe(1);
    }
  });

  it('steps against the end: either a step is in the log before the end, or it was refused', async () => {
    for (let round = 0; round < ROUNDS / 3; round += 1) {
      const task = await lab.bring('running');
      const steps = Array.from({ length: 5 }, () => lab.journal.append(claimOf(task), WORD));
      const end = lab.write((tx) => lab.lifecycle.complete(tx, claimOf(task), null));
      steps.push(...Array.from({ length: 5 }, () => lab.journal.append(claimOf(task), WORD)));
      const stored = (await Promise.allSettled(steps)).filter(({ status }) => status === 'fulfilled');
      await end;
      const words = (await lab.types(task.id)).filter((type) => type === 'scripted.word');
      expect(words).toHaveLength(stored.length);
      await exactlyOneEnd(task.id);
    }
  });
});
