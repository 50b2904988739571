import type { Tx } from '../database/index.js';
import type { ErrorBody } from '../errors/index.js';
import { isTerminal, type Transition } from './task-transitions.js';
import {
  TASK_ROW_JSON,
  taskFromRow,
  type Claim,
  type JsonObject,
  type Suspicion,
  type Task,
  type TaskRow,
} from './task.js';

/** What a command brings along. */
export interface StatusChange {
  /** Must match the row's attempt and owner: always for fenced commands, for others when it is given. */
  claim?: Claim;
  newOwner?: string;
  error?: ErrorBody;
  result?: JsonObject | null;
  /** Added to the count of unclean ends. */
  interruptions?: number;
  suspicion?: Suspicion;
}

/**
 * The guarded update of one row of the table: "set X if still Y" (HOUSE 4.6), for tasks that move alike. Raises each
 * last sequence number by the number of events to come. Answers with the tasks that moved, in the order of their ids; one
 * that is not in a state this transition leaves, or whose claim no longer holds, is left out.
 */
export async function updateStatus(
  tx: Tx,
  transition: Transition,
  taskIds: string[],
  change: StatusChange,
  now: number,
): Promise<Task[]> {
  const ends = isTerminal(transition.to);
  const sets: [sql: string, ...parameters: unknown[]][] = [
    ['status = ?', transition.to],
    ['last_sequence_number = last_sequence_number + ?', transition.events.length],
    ['updated_at = ?', now],
    ['error = ?', change.error ? JSON.stringify(change.error) : null],
    ['result = ?', change.result ? JSON.stringify(change.result) : null],
  ];
  if (transition.owner !== 'keep') sets.push(['owner = ?', transition.owner === 'set' ? required(change) : null]);
  if (transition.raisesAttempt) sets.push(['attempt = attempt + 1']);
  if (transition.startsOver) sets.push(['start_count = start_count + 1'], ['started_at = NULL']);
  if (change.interruptions) sets.push(['interruptions = interruptions + ?', change.interruptions]);
  if (change.suspicion !== undefined) sets.push(['suspect = ?', change.suspicion]);
  if (transition.to === 'running') sets.push(['started_at = coalesce(started_at, ?)', now]);
  if (transition.to === 'cancelling' || transition.row === 9) sets.push(['cancel_requested_at = ?', now]);
  if (ends) sets.push(['finished_at = ?', now]);

  const guards: [sql: string, ...parameters: unknown[]][] = [
    ['id IN (SELECT value FROM json_each(?))', JSON.stringify(taskIds)],
    ['status IN (SELECT value FROM json_each(?))', JSON.stringify(transition.from)],
  ];
  if (transition.unownedOnly) guards.push(['owner IS NULL']);
  if (transition.fenced || change.claim)
    guards.push(['attempt = ? AND owner = ?', change.claim?.attempt, change.claim?.owner]);

  // The first word in lower case makes the driver answer with rows (STACK 4).
  const rows = await tx.query<{ task: string }>(
    `update tasks SET ${sets.map(([sql]) => sql).join(', ')} WHERE ${guards.map(([sql]) => sql).join(' AND ')}
     RETURNING ${TASK_ROW_JSON} AS task`,
    [...sets, ...guards].flatMap(([, ...parameters]) => parameters),
  );
  const tasks = rows.map(({ task }) => taskFromRow(JSON.parse(task) as TaskRow));
  const moved = new Map(tasks.map((task) => [task.id, task]));
  return taskIds.flatMap((id) => moved.get(id) ?? []);
}

function required(change: StatusChange): string {
  if (change.newOwner === undefined) throw new Error('this transition needs the new owner');
  return change.newOwner;
}
