import { describe, expect, it } from 'vitest';
import {
  isTerminal,
  isTerminalEvent,
  LIFECYCLE_EVENTS,
  TASK_STATUSES,
  TASK_TRANSITIONS,
  TERMINAL_EVENTS,
  TERMINAL_STATUSES,
  UNFINISHED_STATUSES,
  type TaskCommand,
  type Transition,
} from './task-transitions.js';

/** WIRE B4 written out a second time: command, row, from, to, events, owner, and what else the row does. */
const WIRE_B4 = `
enqueue            |  1 |                          | queued     | created queued   | keep  |
startLoading       |  2 | queued                   | loading    | in_progress      | set   | attempt
start              |  3 | queued                   | running    | in_progress      | set   | attempt
startLoaded        |  4 | loading                  | running    | in_progress      | keep  | fenced
failLoading        |  5 | loading                  | failed     | error failed     | clear | fenced
complete           |  6 | running                  | completed  | completed        | clear | fenced
completeIncomplete |  7 | running                  | completed  | incomplete       | clear | fenced
fail               |  8 | running                  | failed     | error failed     | clear | fenced
cancelQueued       |  9 | queued                   | cancelled  | cancelled        | clear |
requestCancel      | 10 | loading running          | cancelling | in_progress      | keep  |
confirmCancel      | 11 | cancelling               | cancelled  | cancelled        | clear |
failQueued         | 12 | queued                   | failed     | error failed     | clear |
failUnowned        | 13 | running                  | failed     | error failed     | clear | unowned
requeueLost        | 15 | running                  | queued     | queued           | clear | start fenced
interruptLost      | 15 | running                  | running    | in_progress      | clear | fenced
reloadLost         | 15 | loading                  | loading    |                  | set   | fenced
recoverFail        | 16 | queued loading running   | failed     | failed           | clear |
recoverRetry       | 17 | loading running          | queued     | queued           | clear | start
recoverResume      | 18 | running                  | running    | in_progress      | clear |
recoverCancel      | 19 | cancelling               | cancelled  | cancelled        | clear |
takeUp             | 20 | running                  | running    |                  | set   | attempt unowned`;

function words(cell: string | undefined): string[] {
  return cell?.split(' ').filter((word) => word !== '') ?? [];
}

const rows = WIRE_B4.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));

const all: [TaskCommand, Transition][] = Object.entries(TASK_TRANSITIONS) as [TaskCommand, Transition][];

describe('the transition table', () => {
  it.each(rows)('WIRE B4: %s is row %s as the page has it', (command, row, from, to, events, owner, flags) => {
    const transition: Transition = TASK_TRANSITIONS[command as TaskCommand];
    expect(transition).toEqual({
      row: Number(row),
      from: words(from),
      to,
      events: words(events).map((word) => (word === 'error' ? word : `response.${word}`)),
      owner,
      raisesAttempt: words(flags).includes('attempt'),
      startsOver: words(flags).includes('start'),
      unownedOnly: words(flags).includes('unowned'),
      fenced: words(flags).includes('fenced'),
    });
  });

  it('has no command beyond those of WIRE B4', () => {
    expect(Object.keys(TASK_TRANSITIONS)).toEqual(rows.map(([command]) => command));
  });

  it('WIRE B4 row 14: no command leaves a terminal status', () => {
    expect(all.filter(([, { from }]) => from.some(isTerminal))).toEqual([]);
  });

  it('R3: from cancelling a task can only become cancelled', () => {
    const targets = all.filter(([, { from }]) => from.includes('cancelling')).map(([, { to }]) => to);
    expect(new Set(targets)).toEqual(new Set(['cancelled']));
  });

  it('invariant 3: a row that ends a task appends one terminal event, last; no other row appends any', () => {
    for (const [command, { to, events }] of all) {
      const ends = events.filter(isTerminalEvent);
      expect(ends, command).toHaveLength(isTerminal(to) ? 1 : 0);
      if (isTerminal(to)) expect(isTerminalEvent(events.at(-1) ?? ''), command).toBe(true);
    }
  });

  it('invariant 4: each row appends exactly one lifecycle event; row 1 two, row 20 and the reload of row 15 none', () => {
    const exceptions: Partial<Record<TaskCommand, number>> = { enqueue: 2, takeUp: 0, reloadLost: 0 };
    for (const [command, { events }] of all) {
      const lifecycle = events.filter((event) => event !== 'error');
      expect(lifecycle, command).toHaveLength(exceptions[command] ?? 1);
    }
  });

  it('R6: statuses are either unfinished or terminal, and every terminal event is a lifecycle event', () => {
    expect([...UNFINISHED_STATUSES, ...TERMINAL_STATUSES]).toEqual([...TASK_STATUSES]);
    expect(TERMINAL_STATUSES.every(isTerminal)).toBe(true);
    expect(UNFINISHED_STATUSES.some(isTerminal)).toBe(false);
    expect(TERMINAL_EVENTS.every((event) => LIFECYCLE_EVENTS.includes(event))).toBe(true);
  });
});
