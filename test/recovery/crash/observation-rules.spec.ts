import { describe, expect, it } from 'vitest';
import type { StoredTask } from '../../support/store-image.js';
import { Checker } from './checker.js';
import { History, imageOf, SUM } from './history.js';
import { Observations, type ObservedCreate } from './observations.js';
import { createFaults, observedFaults } from './rules/observation-rules.js';
import { endFaults } from './rules/end-rules.js';

const resumed = (): StoredTask => new History().to('running').step().resume().takeUp().finish().stored();
const cancelled = (): StoredTask => new History().to('running').step().to('cancelling').to('cancelled').stored();

describe('what clients saw', () => {
  const seen = (stored: StoredTask, observe: (o: Observations, id: string) => void): string[] => {
    const observations = new Observations();
    observe(observations, stored.task.id);
    return observedFaults(stored, observations.of(stored.task.id)).map(({ rule }) => rule);
  };

  it('is all on disk', () => {
    const stored = resumed();
    const found = seen(stored, (o, id) => {
      for (const { sequenceNumber, payload } of stored.events) o.event(id, sequenceNumber, payload);
      o.of(id).states.push({ status: 'running', attempt: 1, last_sequence_number: 5 });
      o.of(id).ends.add(stored.response!.body);
    });
    expect(found).toEqual([]);
  });

  it('an event that is not on disk (invariant 8), or is another there (invariant 9)', () => {
    expect(seen(resumed(), (o, id) => o.event(id, 12, '{}'))).toEqual(['invariant 8']);
    expect(seen(resumed(), (o, id) => o.event(id, 5, '{}'))).toEqual(['invariant 9']);
    const observations = new Observations();
    observations.event('task_a', 5, 'one');
    observations.event('task_a', 5, 'other');
    expect(observations.faults.map(({ rule }) => rule)).toEqual(['invariant 9']);
  });

  it('a state that its log does not have (R2), a number that is not on disk (invariant 8)', () => {
    const state = (status: string, last: number) => (o: Observations, id: string) =>
      void o.of(id).states.push({ status, attempt: 1, last_sequence_number: last });
    expect(seen(resumed(), state('queued', 5))).toEqual(['R2']);
    expect(seen(resumed(), state('completed', 12))).toContain('invariant 8');
  });

  it('an end that is not the stored response (invariant 3)', () => {
    expect(seen(resumed(), (o, id) => o.of(id).ends.add('{}'))).toEqual(['invariant 3']);
  });

  it('a cancel that was answered, and the task completed, or the other way round (R3)', () => {
    const cancel = (status: number, outcome: string) => (o: Observations, id: string) =>
      void o.of(id).cancels.push({ status, outcome });
    expect(seen(cancelled(), cancel(200, 'cancelled'))).toEqual([]);
    expect(seen(resumed(), cancel(200, 'cancelling'))).toEqual(['R3']);
    expect(seen(cancelled(), cancel(400, 'task_not_cancellable'))).toEqual(['R3']);
    const cancelling = new History().to('running').to('cancelling').stored();
    expect(seen(cancelling, cancel(200, 'cancelling'))).toEqual([]);
    expect(seen(cancelling, cancel(200, 'cancelled'))).toEqual(['R3']);
  });
});

describe('a create', () => {
  const create = (change: Partial<ObservedCreate> = {}): ObservedCreate => {
    const answered = { status: 202, taskId: 'task_a', replayed: false, body: null };
    return {
      label: 'sum#1',
      background: true,
      streamed: false,
      onRestart: 'resume',
      key: null,
      tries: [answered],
      ...change,
    };
  };
  const rules = (made: ObservedCreate, ...stored: StoredTask[]): string[] =>
    createFaults(made, stored).map(({ rule }) => rule);
  const unanswered = { status: null, taskId: null, replayed: false, body: null };

  it('that was answered has its task, one that was not may have it', () => {
    expect(rules(create(), resumed())).toEqual([]);
    expect(rules(create({ tries: [unanswered] }), resumed())).toEqual([]);
    expect(rules(create({ tries: [unanswered] }))).toEqual([]);
  });

  it('was answered and is not on disk (R1)', () => {
    expect(rules(create())).toEqual(['R1']);
  });

  it('came twice (B6 idempotency)', () => {
    expect(rules(create(), resumed(), new History({}, 'b').stored())).toEqual(['B6']);
    const twice = [create().tries[0]!, { ...create().tries[0]!, taskId: 'task_b' }];
    expect(rules(create({ tries: twice }), resumed())).toEqual(['R1']);
  });

  it('was answered otherwise than it was stored (R1)', () => {
    const tries = [{ ...create().tries[0]!, body: '{}' }];
    expect(rules(create({ tries }), resumed())).toEqual(['R1']);
  });

  it('got another policy, or another key (C1, B6)', () => {
    expect(rules(create({ onRestart: 'retry' }), resumed())).toEqual(['C1']);
    expect(rules(create({ key: 'mine' }), { ...resumed(), keys: ['other'] })).toEqual(['B6']);
  });

  it('in the foreground was answered with what is not stored (invariant 3, C2)', () => {
    const stored = new History({ background: false, onRestart: 'fail' }).to('running').finish().stored();
    const answered = (status: number, body: string): ObservedCreate =>
      create({ background: false, onRestart: null, tries: [{ ...create().tries[0]!, status, body }] });
    expect(rules(answered(200, stored.response!.body), stored)).toEqual([]);
    expect(rules(answered(200, '{}'), stored)).toEqual(['invariant 3']);
    expect(rules(answered(500, '{"error":{"code":"model_error"}}'), stored)).toEqual(['C2']);
  });
});

describe('at the end', () => {
  const error = (code: string) => ({ type: 'server_error', code, message: '', param: null });
  const rules = (stored: StoredTask): string[] => endFaults(stored, undefined).map(({ rule }) => rule);

  it('a task that has not ended (R6)', () => {
    expect(rules(resumed())).toEqual([]);
    expect(rules(new History().stored())).toEqual(['R6']);
  });

  it('a failure that nothing explains (R6)', () => {
    const restarted = error('server_restarted');
    expect(rules(new History().to('failed', { error: restarted }).stored())).toEqual(['R6']);
    expect(rules(new History({ onRestart: 'fail' }).to('failed', { error: restarted }).stored())).toEqual([]);
    expect(rules(new History().to('failed', { error: error('server_error') }).stored())).toEqual(['R6']);
    expect(rules(new History().to('failed', { error: error('retry_limit_exceeded') }).stored())).toEqual(['R6']);
  });

  it('a cancelled task that nobody cancelled (R3)', () => {
    expect(rules(cancelled())).toEqual(['R3']);
  });
});

describe('the checker over a whole run', () => {
  const life = { recovered: true, paused: false };
  const references = new Map([['sum', SUM]]);

  it('finds nothing in a right one', () => {
    const observations = new Observations();
    const checker = new Checker(references, observations);
    const history = new History().to('running').step();
    observations.of(history.task.id);
    expect(checker.afterKill(imageOf(history.stored()), life)).toEqual([]);
    expect(checker.unfinished).toHaveLength(1);
    history.resume({ interruptions: 1 }).takeUp().finish();
    expect(checker.afterKill(imageOf(history.stored()), life)).toEqual([]);
    expect(checker.known).toEqual(new Set(['task_a']));
    expect(checker.atEnd(imageOf(history.stored()), life)).toEqual([]);
  });

  it('misses a task that a client knows (R1), one that had ended (R4), and sees one that changed after its end', () => {
    const observations = new Observations();
    const checker = new Checker(references, observations);
    observations.of('task_b');
    expect(checker.afterKill(imageOf(resumed()), life).map(({ rule }) => rule)).toEqual(['R1']);
    const changed = resumed();
    changed.task.updatedAt += 1;
    expect(checker.atEnd(imageOf(changed), life).map(({ rule }) => rule)).toContain('B4');
    expect(checker.atEnd(imageOf(), life).map(({ rule }) => rule)).toContain('R4');
  });

  it('passes on what is wrong with the file itself (S1)', () => {
    const checker = new Checker(references, new Observations());
    const image = { ...imageOf(), faults: [{ rule: 'S1', what: 'damaged' }] };
    expect(checker.afterKill(image, life).map(({ rule }) => rule)).toEqual(['S1']);
  });
});
