import { packTexts, type Tx } from '../database/index.js';
import type { Claim } from './task.js';
import type { TaskStep } from './task-handlers.js';
import { eventJson, type StoredEvent } from './task-log.js';
import type { TaskStatus } from './task-transitions.js';

/** All steps of one task that one commit takes, in order. */
export interface StepGroup {
  claim: Claim;
  steps: TaskStep[];
  /** Nothing is held against the task any more (Suspicion). */
  proven: boolean;
}

interface Head {
  id: string;
  status: TaskStatus;
  attempt: number;
  owner: string | null;
  last_sequence_number: number;
  start_count: number;
}

/**
 * Appends the steps of many tasks, one statement a table (STACK 3.2). Numbers and payload JSON are made here, anew in
 * each try. A group whose claim no longer holds (status, attempt and owner) writes nothing: its place in the answer is
 * null, else the events as stored.
 */
export async function writeSteps(tx: Tx, groups: StepGroup[]): Promise<(StoredEvent[] | null)[]> {
  const heads = await readHeads(tx, groups);
  const written = groups.map((group) => numbered(group, heads.get(group.claim.taskId)));
  const live = groups.flatMap((group, i) => {
    const events = written[i];
    const head = heads.get(group.claim.taskId);
    return events && head ? [{ group, events, head }] : [];
  });
  if (live.length === 0) return written;
  const now = Date.now();
  await raiseNumbers(tx, live, now);
  await insertEvents(
    tx,
    live.flatMap(({ group, events }) => events.map((event) => ({ taskId: group.claim.taskId, ...event }))),
    now,
  );
  await insertSnapshots(tx, live);
  return written;
}

async function readHeads(tx: Tx, groups: StepGroup[]): Promise<Map<string, Head>> {
  const rows = await tx.query<Head>(
    `select id, status, attempt, owner, last_sequence_number, start_count
     from tasks where id in (select value from json_each(?))`,
    [JSON.stringify(groups.map((group) => group.claim.taskId))],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

function numbered({ claim, steps }: StepGroup, head: Head | undefined): StoredEvent[] | null {
  if (head?.status !== 'running' || head.attempt !== claim.attempt || head.owner !== claim.owner) return null;
  let number = head.last_sequence_number;
  return steps.flatMap((step) =>
    step.events.map(({ type, payload }) => {
      number += 1;
      return { sequenceNumber: number, type, payload: eventJson(type, number, payload) };
    }),
  );
}

interface LiveGroup {
  group: StepGroup;
  events: StoredEvent[];
  head: Head;
}

async function raiseNumbers(tx: Tx, live: LiveGroup[], now: number): Promise<void> {
  const raised = live.map(({ group, head, events }) => ({
    id: head.id,
    last: head.last_sequence_number + events.length,
    resumed: group.claim.resumed === true,
    proven: group.proven,
  }));
  await tx.execute(
    `UPDATE tasks SET last_sequence_number = v.last, updated_at = ?,
       interruptions = CASE WHEN v.resumed THEN 0 ELSE interruptions END,
       suspect = CASE WHEN v.proven THEN 0 ELSE min(suspect, 1) END
     FROM (SELECT value->>'id' AS id, value->>'last' AS last, value->>'resumed' AS resumed, value->>'proven' AS proven
       FROM json_each(?)) v
     WHERE tasks.id = v.id AND tasks.status = 'running'`,
    [now, JSON.stringify(raised)],
  );
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
  const rows = tasks.map(({ taskId, payload }) => [taskId, payload.slice(1)]);
  await tx.execute(
    `INSERT INTO task_events (task_id, sequence_number, type, payload, created_at)
     SELECT made.value->>0, first.key, first.value,
       '{"type":' || json_quote(first.value) || ',"sequence_number":' || first.key ||
         iif(made.value->>1 = '}', '', ',') || (made.value->>1), ?
     FROM json_each(?) AS made CROSS JOIN json_each(?) AS first`,
    [now, JSON.stringify(rows), JSON.stringify(types)],
  );
}

async function insertSnapshots(tx: Tx, live: LiveGroup[]): Promise<void> {
  const rows = live.flatMap(({ group, events, head }) => {
    const lines = group.steps.flatMap((step) => (step.snapshot === null ? [] : [step.snapshot]));
    if (lines.length === 0) return [];
    const last = head.last_sequence_number + events.length;
    return [{ task: head.id, start: head.start_count, last, payload: lines.join('\n') }];
  });
  if (rows.length === 0) return;
  await tx.execute(
    `INSERT INTO task_snapshots (task_id, start_count, last_sequence_number, payload)
     SELECT value->>'task', value->>'start', value->>'last', value->>'payload' FROM json_each(?)`,
    [JSON.stringify(rows)],
  );
}
