import { Faults, type Fault } from '../../../support/fault.js';
import { isLifecycleEvent } from '../../../../src/testing/log-invariants.js';
import { snapshotOf } from '../../../../src/testing/response-invariants.js';
import type { StoredTask } from '../../../support/store-image.js';
import { deltasOf, tokenIdsOf, type Reference } from '../reference.js';

/**
 * What lies on disk of an answer is a beginning of the reference answer, the tokens and the text of the same length; a
 * completed one is all of it, whatever interrupted it (invariant 11, CASES BL-27).
 */
export function referenceFaults(stored: StoredTask, reference: Reference): Fault[] {
  const faults = new Faults();
  const tokens = tokenIdsOf(stored);
  const deltas = deltasOf(stored);
  faults.unless(
    isBeginning(tokens, reference.tokenIds),
    'invariant 11',
    `${describe(tokens, reference.tokenIds)} tokens`,
  );
  faults.unless(isBeginning(deltas, reference.deltas), 'invariant 11', `${describe(deltas, reference.deltas)} deltas`);
  const [least, most] = deltasBetween(tokens.length, reference);
  faults.unless(
    deltas.length >= least && deltas.length <= most,
    'invariant 8',
    `${tokens.length} tokens with ${deltas.length} deltas: ${least} to ${most} belong to them`,
  );
  if (stored.task.status === 'completed') completedFaults(stored, reference, tokens, faults);
  return faults.list;
}

function completedFaults(stored: StoredTask, reference: Reference, tokens: number[], faults: Faults): void {
  const { status, output, usage, lmsp } = snapshotOf(stored.events.at(-1)?.payload ?? '');
  const text = output.flatMap(({ content = [] }) => content.map((part) => part.text)).join('');
  faults.unless(status === reference.status, 'invariant 11', `it is ${status}, the reference ${reference.status}`);
  faults.unless(text === reference.text, 'invariant 11', 'its text is not that of the reference');
  faults.unless(tokens.length === reference.tokenIds.length, 'invariant 11', `${tokens.length} tokens are logged`);
  const counted = (['input_tokens', 'output_tokens', 'total_tokens'] as const).every(
    (key) => usage?.[key] === reference.usage[key],
  );
  faults.unless(counted, 'invariant 11', 'its usage is not that of the reference');
  const logged = loggedBeforeTakeUp(stored);
  faults.unless(lmsp.replayed_tokens === logged, 'BL-27', `${lmsp.replayed_tokens} replayed tokens, ${logged} logged`);
}

/**
 * Tokens of the present start that lay on disk when it was last left running (row 18): each is replayed, none drawn again.
 * A token that tells readers nothing takes no number: the first after the event of row 18 may bear that event's own.
 */
function loggedBeforeTakeUp({ task, events, snapshots }: StoredTask): number {
  let status = '';
  let left = -1;
  for (const { type, payload, sequenceNumber } of events.filter((event) => isLifecycleEvent(event.type))) {
    const { task_status } = snapshotOf(payload).lmsp;
    if (status === 'running' && task_status === 'running') left = sequenceNumber;
    if (type === 'response.queued') left = -1;
    status = task_status;
  }
  return snapshots
    .filter(({ startCount, lastSequenceNumber }) => startCount === task.startCount && lastSequenceNumber < left)
    .reduce((sum, { lines }) => sum + lines.length, 0);
}

function isBeginning<T>(values: T[], of: T[]): boolean {
  return values.length <= of.length && values.every((value, i) => value === of[i]);
}

function describe<T>(values: T[], of: T[]): string {
  const first = values.findIndex((value, i) => value !== of[i]);
  return `differs from the reference from the ${first}th of ${values.length} (${of.length})`;
}

/** How many deltas may lie on disk beside so many tokens, by the reference's own commits. */
function deltasBetween(tokens: number, { marks }: Reference): [least: number, most: number] {
  const below = marks.filter((mark) => mark.tokens <= tokens).at(-1);
  const above = marks.find((mark) => mark.tokens >= tokens);
  return [below?.deltas ?? 0, above?.deltas ?? 0];
}
