import { packTexts, type Tx } from '../database/index.js';
import type { Claim } from './task.js';
import type { TaskStep } from './task-handlers.js';
import { behindOthers, eventJson, type StoredEvent } from './task-log.js';

/** All steps of one task that one commit takes, in order. */
export interface StepGroup {
  claim: Claim;
  steps: TaskStep[];
  /** Nothing is held against the task any more (Suspicion). */
  proven: boolean;
}

/** A task whose claim holds, with its numbers raised. */
interface Raised {
  id: string;
  attempt: number;
  owner: string;
  last_sequence_number: number;
  start_count: number;
}

interface LiveGroup {
  group: StepGroup;
  events: StoredEvent[];
  task: Raised;
}

/**
 * Appends the steps of many tasks, one statement a table (STACK 3.2). Numbers and payload JSON are made here, anew in
 * each try. A group whose claim no longer holds (status, attempt and owner) writes nothing: its place in the answer is
 * null, else the events as stored.
 */
export async function writeSteps(tx: Tx, groups: StepGroup[]): Promise<(StoredEvent[] | null)[]> {
  const now = Date.now();
  const raised = await raiseNumbers(tx, groups, now);
  const written = groups.map((group) => {
    const task = raised.get(keyOf(group.claim));
    return task ? { group, events: numbered(group, task), task } : null;
  });
  const live = written.filter((each) => each !== null);
  await insertEvents(
    tx,
    live.flatMap(({ events, task }) => events.map((event) => ({ taskId: task.id, ...event }))),
    now,
  );
  await insertSnapshots(tx, live);
  return written.map((each) => each?.events ?? null);
}

/** One attempt: what fences its writes. */
export function keyOf({ taskId, attempt, owner }: Claim): string {
  return `${taskId} ${attempt} ${owner}`;
}

function eventsOf({ steps }: StepGroup): number {
  return steps.reduce((sum, { events }) => sum + events.length, 0);
}

function numbered(group: StepGroup, { last_sequence_number }: Raised): StoredEvent[] {
  let number = last_sequence_number - eventsOf(group);
  return group.steps.flatMap(({ events }) =>
    events.map(({ type, payload }) => {
      number += 1;
      return { sequenceNumber: number, type, payload: eventJson(type, number, payload) };
    }),
  );
}

/** Makes room for the events of each group whose claim holds, by its key. */
async function raiseNumbers(tx: Tx, groups: StepGroup[], now: number): Promise<Map<string, Raised>> {
  const wanted = groups.map((group) => ({
    id: group.claim.taskId,
    attempt: group.claim.attempt,
    owner: group.claim.owner,
    count: eventsOf(group),
    resumed: group.claim.resumed === true,
    proven: group.proven,
  }));
  const rows = await tx.query<Raised>(
    `UPDATE tasks SET last_sequence_number = last_sequence_number + v.count, updated_at = ?,
       interruptions = CASE WHEN v.resumed THEN 0 ELSE interruptions END,
       suspect = CASE WHEN v.proven THEN 0 ELSE min(suspect, 1) END
     FROM (SELECT value->>'id' AS id, value->>'attempt' AS attempt, value->>'owner' AS owner, value->>'count' AS count,
         value->>'resumed' AS resumed, value->>'proven' AS proven
       FROM json_each(?)) v
     WHERE tasks.id = v.id AND tasks.status = 'running' AND tasks.attempt = v.attempt AND tasks.owner = v.owner
     RETURNING id, attempt, owner, last_sequence_number, start_count`,
    [now, JSON.stringify(wanted)],
  );
  return new Map(rows.map((row) => [keyOf({ taskId: row.id, ...row }), row]));
}

/** Inserts numbered events of any number of tasks in one statement. */
export async function insertEvents(tx: Tx, events: (StoredEvent & { taskId: string })[], now: number): Promise<void> {
  if (events.length === 0) return;
  const { bytes, places } = packTexts(events.map(({ payload }) => payload));
  const rows = events.map(({ taskId, sequenceNumber, type }, i) => [taskId, sequenceNumber, type, ...places[i]!]);
  await tx.execute(
    `INSERT INTO task_events (task_id, sequence_number, type, payload, created_at)
     SELECT value->>0, value->>1, value->>2, CAST(substr(?, value->>3, value->>4) AS TEXT), ? FROM json_each(?)`,
    [bytes, now, JSON.stringify(rows)],
  );
}

/** What the first events of a task have in common. */
export interface FirstEvents {
  taskId: string;
  /** JSON of an object. */
  payload: string;
}

/**
 * Inserts events of these types, numbered from 0, for each of new tasks. Their text is that of `eventJson`; the payload,
 * which is most of it, goes to the database once.
 */
export async function insertFirstEvents(
  tx: Tx,
  tasks: FirstEvents[],
  types: readonly string[],
  now: number,
): Promise<void> {
  const { bytes, places } = packTexts(tasks.map(({ payload }) => behindOthers(payload)));
  const rows = tasks.map(({ taskId }, i) => [taskId, ...places[i]!]);
  await tx.execute(
    `INSERT INTO task_events (task_id, sequence_number, type, payload, created_at)
     SELECT made.value->>0, first.key, first.value,
       '{"type":' || json_quote(first.value) || ',"sequence_number":' || first.key ||
         CAST(substr(?, made.value->>1, made.value->>2) AS TEXT), ?
     FROM json_each(?) AS made CROSS JOIN json_each(?) AS first`,
    [bytes, now, JSON.stringify(rows), JSON.stringify(types)],
  );
}

async function insertSnapshots(tx: Tx, live: LiveGroup[]): Promise<void> {
  const rows = live.flatMap(({ group, task }) => {
    const lines = group.steps.flatMap((step) => (step.snapshot === null ? [] : [step.snapshot]));
    if (lines.length === 0) return [];
    return [{ task: task.id, start: task.start_count, last: task.last_sequence_number, payload: lines.join('\n') }];
  });
  if (rows.length === 0) return;
  await tx.execute(
    `INSERT INTO task_snapshots (task_id, start_count, last_sequence_number, payload)
     SELECT value->>'task', value->>'start', value->>'last', value->>'payload' FROM json_each(?)`,
    [JSON.stringify(rows)],
  );
}
