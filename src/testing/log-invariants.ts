import { isTerminalEvent, isTerminal, LIFECYCLE_EVENTS } from '../tasks/task-transitions.js';
import type { Task } from '../tasks/task.js';
import type { StoredEvent } from '../tasks/task-log.js';
import { Faults, type Fault } from './fault.js';

/** Faults of one task's log against the invariants 1, 2, 3 and 9 of WIRE B5; an empty list is right. */
export function logFaults(task: Task, events: StoredEvent[]): Fault[] {
  const faults = new Faults();
  events.forEach((event, i) => {
    const body = JSON.parse(event.payload) as { type: string; sequence_number: number };
    faults.unless(event.sequenceNumber === i, 'invariant 1', `event ${i} has number ${event.sequenceNumber}`);
    faults.unless(body.sequence_number === event.sequenceNumber, 'invariant 9', `payload ${i} names another number`);
    faults.unless(body.type === event.type, 'invariant 9', `payload ${i} names another type`);
  });
  const last = task.lastSequenceNumber;
  faults.unless(last === events.length - 1, 'invariant 1', `last_sequence_number ${last} of ${events.length} events`);
  faults.unless(events[0]?.type === 'response.created', 'invariant 2', 'event 0 is not response.created');
  faults.unless(events[1]?.type === 'response.queued', 'invariant 2', 'event 1 is not response.queued');
  const ends = events.filter((event) => isTerminalEvent(event.type));
  if (isTerminal(task.status)) {
    const one = ends.length === 1 && ends[0] === events.at(-1);
    faults.unless(one, 'invariant 3', `${task.status} with ${ends.length} ends, the last event ${events.at(-1)?.type}`);
  } else faults.unless(ends.length === 0, 'invariant 3', `${task.status}, and its log has an end`);
  const lifecycle = lastLifecycleEvent(events);
  if (lifecycle) {
    const fits = STATUS_OF_EVENT[lifecycle.type]?.includes(task.status) === true;
    faults.unless(fits, 'R2', `the status is ${task.status}, the last lifecycle event ${lifecycle.type}`);
  }
  return faults.list;
}

export function lastLifecycleEvent(events: StoredEvent[]): StoredEvent | undefined {
  return events.filter((event) => isLifecycleEvent(event.type)).at(-1);
}

export function isLifecycleEvent(type: string): boolean {
  return (LIFECYCLE_EVENTS as readonly string[]).includes(type);
}

export const STATUS_OF_EVENT: Record<string, readonly string[]> = {
  'response.created': ['queued'],
  'response.queued': ['queued'],
  'response.in_progress': ['loading', 'running', 'cancelling'],
  'response.completed': ['completed'],
  'response.incomplete': ['completed'],
  'response.failed': ['failed'],
  'response.cancelled': ['cancelled'],
};
