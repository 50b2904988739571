import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isTerminal, type OnRestart, type TaskStatus } from '../../../src/tasks/task-transitions.js';
import { StaleClaim, TransitionRefused } from '../../../src/tasks/tasks.errors.js';
import { logFaults } from '../../../src/testing/log-invariants.js';
import { claimOf, TaskLab } from '../../support/task-lab.js';

const ERROR = { type: 'server_error', code: 'model_error', message: 'it broke', param: null };

/** All that the model knows of a task. */
interface Model {
  status: string;
  owner: boolean;
  attempt: number;
  interruptions: number;
  events: number;
}

const LIMIT = 3;

const NEXT: Record<
  string,
  Partial<Record<string, [status: string, owner: boolean, attempts: number, events: number]>>
> = {
  queued: { claim: ['running', true, 1, 1], load: ['loading', true, 1, 1], cancel: ['cancelled', false, 0, 1] },
  loading: {
    loaded: ['running', true, 0, 1],
    loadFailed: ['failed', false, 0, 2],
    requestCancel: ['cancelling', true, 0, 1],
  },
  running: {
    step: ['running', true, 0, 1],
    complete: ['completed', false, 0, 1],
    limit: ['completed', false, 0, 1],
    fail: ['failed', false, 0, 2],
    requestCancel: ['cancelling', true, 0, 1],
    requeue: ['queued', false, 0, 1],
    interrupt: ['running', false, 0, 1],
  },
  unowned: {
    takeUp: ['running', true, 1, 0],
    failUnowned: ['failed', false, 0, 2],
    requestCancel: ['cancelling', false, 0, 1],
  },
  cancelling: { confirm: ['cancelled', false, 0, 1] },
};

/** What recovery does to a background task, by policy. */
const RECOVERED: Record<string, Record<string, [status: string, events: number]>> = {
  queued: { fail: ['failed', 1], retry: ['queued', 0], resume: ['queued', 0] },
  loading: { fail: ['failed', 1], retry: ['queued', 1], resume: ['queued', 1] },
  running: { fail: ['failed', 1], retry: ['queued', 1], resume: ['running', 1] },
  cancelling: { fail: ['cancelled', 1], retry: ['cancelled', 1], resume: ['cancelled', 1] },
};

const COMMANDS = [...new Set(Object.values(NEXT).flatMap((commands) => Object.keys(commands)))];
const walk = fc.record({
  policy: fc.constantFrom('fail' as const, 'retry' as const, 'resume' as const),
  commands: fc.array(
    fc.record({
      name: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...COMMANDS) },
        { weight: 1, arbitrary: fc.constant('recover') },
      ),
      stale: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    }),
    { minLength: 1, maxLength: 25 },
  ),
});

const FENCED = ['loaded', 'loadFailed', 'step', 'complete', 'limit', 'fail', 'requeue', 'interrupt'];

let lab: TaskLab;
beforeAll(async () => {
  lab = await TaskLab.open();
});
afterAll(() => lab.close());

async function send(id: string, name: string, stale: boolean): Promise<unknown> {
  const claim = claimOf(await lab.task(id));
  if (stale) claim.attempt -= 1;
  const { lifecycle } = lab;
  if (name === 'step') {
    return lab.journal.append(claim, { events: [{ type: 'scripted.word', payload: {} }], snapshot: 'line' });
  }
  return lab.write((tx): Promise<unknown> => {
    switch (name) {
      case 'claim':
        return lifecycle.start(tx, id, 'run_1');
      case 'load':
        return lifecycle.startLoading(tx, id, 'run_1');
      case 'loaded':
        return lifecycle.startLoaded(tx, claim);
      case 'loadFailed':
        return lifecycle.failLoading(tx, claim, ERROR);
      case 'complete':
        return lifecycle.complete(tx, claim, null);
      case 'limit':
        return lifecycle.completeIncomplete(tx, claim);
      case 'fail':
        return lifecycle.fail(tx, claim, ERROR);
      case 'cancel':
        return lifecycle.cancelQueued(tx, id);
      case 'requestCancel':
        return lifecycle.requestCancel(tx, id);
      case 'confirm':
        return lifecycle.confirmCancel(tx, id);
      case 'requeue':
        return lifecycle.requeueLost(tx, claim, { interruptions: 1, suspicion: 2 });
      case 'interrupt':
        return lifecycle.interruptLost(tx, claim, { interruptions: 1, suspicion: 2 });
      case 'takeUp':
        return lifecycle.takeUp(tx, id, 'run_1');
      default:
        return lifecycle.failUnowned(tx, id, ERROR);
    }
  });
}

/** The model's next state, or null where the command must be refused. */
function next(model: Model, name: string, stale: boolean): Model | null {
  const state = model.status === 'running' && !model.owner ? 'unowned' : model.status;
  const step = stale && FENCED.includes(name) ? undefined : NEXT[state]?.[name];
  if (!step) return null;
  const [status, owner, attempts, events] = step;
  const interruptions = model.interruptions + (name === 'requeue' || name === 'interrupt' ? 1 : 0);
  return { status, owner, attempt: model.attempt + attempts, interruptions, events: model.events + events };
}

/** The model's state after a recovery: an owner is an interruption, and the last that is allowed fails the task. */
function recovered(model: Model, policy: OnRestart, lastEvent: string | undefined): Model {
  const waits = model.status === 'running' && !model.owner && policy === 'resume';
  if (waits && lastEvent === 'response.in_progress') return model;
  const [status, events] = RECOVERED[model.status]![policy]!;
  const goesOn = status === 'queued' || status === 'running';
  const interruptions = model.interruptions + (goesOn && model.owner ? 1 : 0);
  const after = { ...model, status, owner: false, interruptions, events: model.events + events };
  if (!goesOn || events === 0 || interruptions < LIMIT) return after;
  return { ...after, status: 'failed', events: after.events + 2 };
}

describe('the model walk', () => {
  it('invariants 1 to 3: after any sequence of commands the task is where the model is, and its log is whole', async () => {
    await fc.assert(
      fc.asyncProperty(walk, async ({ policy, commands }) => {
        const { id } = await lab.create({ onRestart: policy, maxInterruptions: LIMIT });
        let model: Model = { status: 'queued', owner: false, attempt: 0, interruptions: 0, events: 2 };
        for (const { name, stale } of commands) {
          if (name === 'recover') {
            if (isTerminal(model.status as TaskStatus)) continue;
            const lastEvent = (await lab.types(id)).at(-1);
            await lab.recovery.run(() => undefined);
            model = recovered(model, policy, lastEvent);
          } else {
            const expected = next(model, name, stale);
            const before = await lab.found(id);
            const refusal = await send(id, name, stale).then(
              () => null,
              (error: unknown) => error,
            );
            if (expected) model = expected;
            else {
              expect(refusal instanceof TransitionRefused || refusal instanceof StaleClaim, `${name} refused`).toBe(
                true,
              );
              expect(await lab.found(id)).toEqual(before);
            }
            expect(refusal === null).toBe(expected !== null);
          }
          const { task, events } = await lab.found(id);
          expect({
            status: task.status,
            owner: task.owner !== null,
            attempt: task.attempt,
            interruptions: task.interruptions,
            events: events.length,
          }).toEqual(model);
          expect(logFaults(task, events)).toEqual([]);
        }
        // Nothing of one walk is left to the recovery of the next.
        if (!isTerminal(model.status as TaskStatus)) {
          await lab.cancellation.cancel(id);
          expect((await lab.task(id)).status).toBe('cancelled');
        }
      }),
      { numRuns: 150 },
    );
  });
});
