import { describe, expect, it } from 'vitest';
import { storedFaults } from '../../support/stored-logs.js';
import type { StoredTask } from '../../support/store-image.js';
import { History, rewrite, SUM } from './history.js';
import { referenceFaults } from './rules/reference-rules.js';

/* Events of `resumed`: created 0, queued 1, in_progress 2, item 3, part 4, delta 5, in_progress 6 (row 18), delta 7,
   text done 8, part done 9, item done 10, completed 11. */
const resumed = (): StoredTask => new History().to('running').step().resume().takeUp().finish().stored();
const retried = (): StoredTask => new History().to('running').step().to('queued').to('running').finish().stored();
const cancelled = (): StoredTask =>
  new History().to('loading').to('running').step().to('cancelling').to('cancelled').stored();

function rulesOf(stored: StoredTask): Set<string> {
  return new Set(storedFaults(stored).map(({ rule }) => rule));
}

describe('a stored task', () => {
  it('that is right has no faults, whatever became of it', () => {
    const server = { type: 'server_error', message: '', param: null };
    const failed = new History().to('running').to('failed', { error: { ...server, code: 'model_error' } });
    const restarted = new History({ onRestart: 'fail' }).to('failed', {
      error: { ...server, code: 'server_restarted' },
    });
    for (const stored of [
      resumed(),
      retried(),
      cancelled(),
      failed.stored(),
      restarted.stored(),
      new History().stored(),
    ])
      expect(storedFaults(stored)).toEqual([]);
  });

  const broken: [rule: string, name: string, breakIt: (stored: StoredTask) => unknown][] = [
    ['invariant 1', 'a number is left out', ({ events }) => events.splice(7, 1)],
    ['invariant 1', 'a number is used twice', ({ events }) => events.splice(7, 0, events[7]!)],
    ['invariant 1', 'the row knows an event that is not there', ({ task }) => (task.lastSequenceNumber += 1)],
    ['invariant 2', 'the first event is another', ({ events }) => events.splice(0, 1)],
    ['invariant 3', 'the end is missing', ({ events }) => events.pop()],
    ['invariant 3', 'an event comes after the end', ({ events }) => events.push({ ...events[7]!, sequenceNumber: 12 })],
    ['invariant 3', 'the stored response is an older one', ({ response }) => (response!.body += ' ')],
    ['invariant 3', 'a snapshot is not the fold', (s) => rewrite(s, 6, 'response.output', [])],
    ['invariant 4', 'an event names a status of its own', (s) => rewrite(s, 2, 'response.lmsp.task_status', 'queued')],
    ['invariant 5', 'a delta comes before its part', ({ events }) => swap(events, 4, 5)],
    ['invariant 5', 'an item is done twice', ({ events }) => (events[9] = events[10]!)],
    ['invariant 5', 'an item has a wrong place', (s) => rewrite(s, 3, 'output_index', 1)],
    ['invariant 6', 'the text is not the deltas', (s) => rewrite(s, 8, 'text', 'other')],
    ['invariant 7', 'a snapshot is of another response', (s) => rewrite(s, 6, 'response.id', 'x')],
    ['invariant 9', 'a payload has another number', (s) => rewrite(s, 5, 'sequence_number', 9)],
    ['invariant 9', 'a payload has another type', (s) => rewrite(s, 5, 'type', 'other')],
    ['B4', 'an event skips the claim', (s) => rewrite(s, 2, 'response.lmsp.task_status', 'cancelling')],
    ['B4', 'a claim takes the attempt of the one before', (s) => rewrite(s, 2, 'response.lmsp.attempt', 0)],
    ['B4', 'an ended task has an owner', ({ task }) => (task.owner = 'run_1')],
    ['C1', 'a task that is to be retried goes on', ({ task }) => (task.onRestart = 'retry')],
    ['C4', 'the response is of another event', ({ response }) => (response!.bodySequenceNumber -= 1)],
    ['R2', 'the status is not that of the last event', ({ task }) => (task.status = 'failed')],
    ['R2', 'there is no response', (stored) => (stored.response = null)],
    ['R2', 'the response has a status of its own', ({ response }) => (response!.status = 'in_progress')],
  ];
  it.each(broken)('%s: %s', (rule, _name, breakIt) => {
    const stored = resumed();
    breakIt(stored);
    expect(rulesOf(stored)).toContain(rule);
  });

  it('invariant 5: an event of the output comes while the task is cancelling (R3)', () => {
    const stored = new History().to('running').step().to('cancelling').step().to('cancelled').stored();
    expect(rulesOf(stored)).toContain('B4');
  });

  it('R3: a cancelled run that completes', () => {
    const stored = new History().to('running').step().to('cancelling').finish().stored();
    expect(rulesOf(stored)).toContain('B4');
  });

  it('invariant 7: a new start takes output or item ids of the one before', () => {
    const stored = retried();
    const queued = stored.events.map(({ type }) => type).lastIndexOf('response.queued');
    rewrite(stored, queued, 'response.output', [{ id: 'msg_0', content: [] }]);
    expect(rulesOf(stored)).toContain('invariant 7');
    const again = retried();
    const added = again.events.map(({ type }) => type).lastIndexOf('response.output_item.added');
    rewrite(again, added, 'item.id', 'msg_0');
    expect(rulesOf(again)).toContain('B0');
  });

  it('C2: a failure by restart that says error first, and one by the model that does not', () => {
    const error = { type: 'server_error', code: 'model_error', message: '', param: null };
    const stored = new History().to('running').to('failed', { error }).stored();
    rewrite(stored, 4, 'response.error.code', 'server_restarted');
    expect(rulesOf(stored)).toContain('B4');
    expect(rulesOf(stored)).toContain('C2');
  });
});

describe('an answer beside its reference (invariant 11, BL-27)', () => {
  const rules = (stored: StoredTask): string[] => referenceFaults(stored, SUM).map(({ rule }) => rule);

  it('is it, or a beginning of it', () => {
    for (const stored of [resumed(), retried(), cancelled(), new History().stored()]) expect(rules(stored)).toEqual([]);
  });

  it('has lost, doubled or changed a token', () => {
    for (const breakIt of [
      ({ snapshots }: StoredTask) => snapshots.splice(1, 1),
      ({ snapshots }: StoredTask) => snapshots.push(snapshots[1]!),
      ({ snapshots }: StoredTask) => (snapshots[1]!.lines = ['13']),
      (stored: StoredTask) => rewrite(stored, 7, 'delta', ' 4'),
      (stored: StoredTask) => rewrite(stored, 11, 'response.usage.output_tokens', 4),
      (stored: StoredTask) => rewrite(stored, 11, 'response.output', []),
    ]) {
      const stored = resumed();
      breakIt(stored);
      expect(rules(stored)).toContain('invariant 11');
    }
  });

  it('counts other tokens as replayed than were logged', () => {
    const stored = resumed();
    rewrite(stored, 11, 'response.lmsp.replayed_tokens', 0);
    expect(rules(stored)).toEqual(['BL-27']);
  });

  it('is right where the first token after the take-up tells readers nothing: it bears the number of row 18', () => {
    const stored = resumed();
    stored.snapshots[1]!.lastSequenceNumber = 6;
    expect(rules(stored)).toEqual([]);
  });

  it('has a token on disk without its text (invariant 8)', () => {
    const stored = cancelled();
    stored.events = stored.events.filter(({ type }) => type !== 'response.output_text.delta');
    expect(rules(stored)).toEqual(['invariant 8']);
  });
});

function swap<T>(list: T[], one: number, other: number): void {
  [list[one], list[other]] = [list[other]!, list[one]!];
}
