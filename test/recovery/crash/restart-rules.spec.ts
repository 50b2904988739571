import { describe, expect, it } from 'vitest';
import type { Task } from '../../../src/tasks/task.js';
import type { StoredTask } from '../../support/store-image.js';
import { History, imageOf } from './history.js';
import { restartViolations } from './rules/restart-rules.js';

const RESTARTED = { type: 'server_error', code: 'server_restarted', message: '', param: null };
const GIVEN_UP = { ...RESTARTED, code: 'retry_limit_exceeded' };

const FOUND: Record<string, (history: History) => History> = {
  queued: (history) => history,
  loading: (history) => history.to('loading'),
  running: (history) => history.to('running').step(),
  cancelling: (history) => history.to('running').step().to('cancelling'),
};

type Outcome = 'stays' | 'fails' | 'waits again' | 'resumes' | 'is cancelled';

const OUTCOMES: Record<Outcome, (history: History) => History> = {
  stays: (history) => history,
  fails: (history) => history.to('failed', { error: RESTARTED }),
  'waits again': (history) => history.to('queued', { interruptions: 1 }),
  resumes: (history) => history.resume({ interruptions: 1 }),
  'is cancelled': (history) => history.to('cancelled'),
};

/** The table of 11.3, written down once more. */
const TABLE: Record<string, Record<string, Outcome>> = {
  queued: { fail: 'fails', retry: 'stays', resume: 'stays' },
  loading: { fail: 'fails', retry: 'waits again', resume: 'waits again' },
  running: { fail: 'fails', retry: 'waits again', resume: 'resumes' },
  cancelling: { fail: 'is cancelled', retry: 'is cancelled', resume: 'is cancelled' },
};

const CELLS = Object.entries(TABLE).flatMap(([found, row]) =>
  Object.entries(row).map(([policy, outcome]) => ({ found, policy: policy as Task['onRestart'], outcome })),
);

function pair(
  task: Partial<Task>,
  found: string,
  then: (history: History) => History,
): { before: StoredTask; after: StoredTask } {
  const history = FOUND[found]!(new History(task));
  const before = history.stored();
  return { before, after: then(history).stored() };
}

function rules(
  { before, after }: { before: StoredTask; after: StoredTask },
  paused = true,
  recovered = true,
): string[] {
  const restart = { before: imageOf(before), after: imageOf(after), paused, recovered };
  return restartViolations(restart).map(({ rule }) => rule);
}

describe.each(CELLS)('$found under $policy (C1)', ({ found, policy, outcome }) => {
  it.each(Object.entries(OUTCOMES))('%s', (name, then) => {
    const seen = rules(pair({ onRestart: policy }, found, then));
    if (name === outcome) expect(seen).toEqual([]);
    else expect(seen).not.toEqual([]);
  });
});

describe('what WIRE B6 adds to the table', () => {
  it('a foreground task fails in every state but cancelling', () => {
    for (const found of ['queued', 'loading', 'running']) {
      expect(rules(pair({ background: false }, found, OUTCOMES.fails))).toEqual([]);
      expect(rules(pair({ background: false }, found, OUTCOMES.stays))).not.toEqual([]);
    }
  });

  it('a task that is gone was unfinished (R5)', () => {
    const restart = { before: imageOf(new History().stored()), after: imageOf(), paused: false, recovered: true };
    expect(restartViolations(restart).map(({ rule }) => rule)).toEqual(['R5']);
  });

  it('failed with another code than server_restarted (C2)', () => {
    const other = { ...RESTARTED, code: 'server_error' };
    const seen = rules(pair({ onRestart: 'fail' }, 'running', (history) => history.to('failed', { error: other })));
    expect(seen).toContain('C2');
  });

  it('a row that changed without an event (C4)', () => {
    const { before, after } = pair({ onRestart: 'retry' }, 'running', OUTCOMES.stays);
    Object.assign(after.task, { status: 'queued', owner: null });
    expect(rules({ before, after }, false, false)).toEqual(['C4']);
  });

  it('an event that was on disk and is another now (invariant 9)', () => {
    const { before, after } = pair({ onRestart: 'retry' }, 'running', OUTCOMES['waits again']);
    after.events[2]!.payload = after.events[2]!.payload.replace('in_progress', 'in_Progress');
    expect(rules({ before, after })).toContain('invariant 9');
  });

  it('nothing is asked of a start that was killed before it was ready', () => {
    for (const { found, policy } of CELLS)
      expect(rules(pair({ onRestart: policy }, found, OUTCOMES.stays), false, false)).toEqual([]);
  });

  it('an interruption that is not counted, or counted although nobody owned the task (B6)', () => {
    const uncounted = (history: History): History => history.to('queued', { interruptions: 0 });
    expect(rules(pair({ onRestart: 'retry' }, 'running', uncounted))).toEqual(['B6']);
    const history = new History().to('running').step().resume();
    const before = history.stored();
    const after = history.resume({ interruptions: 1 }).stored();
    expect(rules({ before, after })).toEqual(['B6']);
  });

  it('used-up interruptions give a task up, others do not (rows 12 and 13)', () => {
    const giveUp = (history: History): History =>
      history.to('queued', { interruptions: 3 }).to('failed', { error: GIVEN_UP });
    const giveUpResumed = (history: History): History =>
      history.resume({ interruptions: 3 }).to('failed', { error: GIVEN_UP });
    expect(rules(pair({ onRestart: 'retry', interruptions: 2 }, 'running', giveUp))).toEqual([]);
    expect(rules(pair({ onRestart: 'resume', interruptions: 2 }, 'running', giveUpResumed))).toEqual([]);
    expect(rules(pair({ onRestart: 'retry', interruptions: 1 }, 'running', giveUp))).toContain('B6');
    expect(rules(pair({ onRestart: 'retry', interruptions: 2 }, 'running', OUTCOMES['waits again']))).toContain('B6');
  });

  it('a resumed task that waits for take-up stays as it is, through any number of restarts', () => {
    const history = new History().to('running').step().resume();
    const before = history.stored();
    expect(rules({ before, after: history.stored() })).toEqual([]);
    const goesOn = history.takeUp().step().stored();
    expect(rules({ before, after: goesOn }, false)).toEqual([]);
  });

  it('a resumed task that starts over has lost its output', () => {
    const startsOver = (history: History): History => history.resume({ interruptions: 1 }).to('queued');
    expect(rules(pair({}, 'running', startsOver), false)).toContain('C1');
  });
});
