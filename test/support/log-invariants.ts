import { isTerminalEvent, isTerminal, LIFECYCLE_EVENTS } from '../../src/tasks/task-transitions.js';
import type { Task } from '../../src/tasks/task.js';
import type { StoredEvent } from '../../src/tasks/task-log.js';

/** Faults of one task's log against the invariants 1, 2, 3 and 9 of WIRE B5; an empty list is right. */
export function logFaults(task: Task, events: StoredEvent[]): string[] {
  const faults: string[] = [];
  events.forEach((event, i) => {
    const body = JSON.parse(event.payload) as { type: string; sequence_number: number };
    if (event.sequenceNumber !== i) faults.push(`event ${i} has number ${event.sequenceNumber} (invariant 1)`);
    if (body.sequence_number !== event.sequenceNumber) faults.push(`payload ${i} names another number (invariant 9)`);
    if (body.type !== event.type) faults.push(`payload ${i} names another type (invariant 9)`);
  });
  if (task.lastSequenceNumber !== events.length - 1) faults.push('last_sequence_number is not the last (invariant 1)');
  if (events[0]?.type !== 'response.created') faults.push('event 0 is not response.created (invariant 2)');
  if (events[1]?.type !== 'response.queued') faults.push('event 1 is not response.queued (invariant 2)');
  const ends = events.filter((event) => isTerminalEvent(event.type));
  if (isTerminal(task.status)) {
    if (ends.length !== 1 || ends[0] !== events.at(-1)) faults.push('not exactly one end, last (invariant 3)');
  } else if (ends.length > 0) faults.push('an unfinished task has an end (invariant 3)');
  const last = events.filter((event) => (LIFECYCLE_EVENTS as readonly string[]).includes(event.type)).at(-1);
  if (last && !STATUS_OF_EVENT[last.type]?.includes(task.status))
    faults.push('the last lifecycle event is not the status');
  return faults;
}

const STATUS_OF_EVENT: Record<string, string[]> = {
  'response.queued': ['queued'],
  'response.in_progress': ['loading', 'running', 'cancelling'],
  'response.completed': ['completed'],
  'response.incomplete': ['completed'],
  'response.failed': ['failed'],
  'response.cancelled': ['cancelled'],
};
