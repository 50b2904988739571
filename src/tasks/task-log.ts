/** Reads of the event log and of snapshots. Writes are TaskLifecycleService's and the journal's alone. */

/** Whatever answers a query: a unit's `tx` or the read-only store. */
export interface Queryable {
  query<R>(sql: string, parameters?: unknown[]): Promise<R[]>;
}

/** One event as it lies on disk. */
export interface StoredEvent {
  sequenceNumber: number;
  type: string;
  /** The JSON text that every reader gets, byte for byte (invariant 9). */
  payload: string;
}

interface EventRow {
  sequence_number: number;
  type: string;
  payload: string;
}

/** Events behind a number, ascending; `limit` bounds the page. */
export async function readEvents(
  from: Queryable,
  taskId: string,
  after: number,
  limit: number,
): Promise<StoredEvent[]> {
  const rows = await from.query<EventRow>(
    `select sequence_number, type, payload from task_events
     where task_id = ? and sequence_number > ? order by sequence_number limit ?`,
    [taskId, after, limit],
  );
  return rows.map((row) => ({ sequenceNumber: row.sequence_number, type: row.type, payload: row.payload }));
}

/**
 * The payloads of all events behind a number of each of many tasks, by task id: a JSON array each, which costs one row and
 * one parse however many there are. Without entry: none. The caller bounds their number.
 */
export async function readPayloadsOfMany(
  from: Queryable,
  logs: { taskId: string; after: number }[],
): Promise<Map<string, string>> {
  const rows = await from.query<{ task_id: string; payloads: string }>(
    `select e.task_id, '[' || group_concat(e.payload order by e.sequence_number) || ']' as payloads
     from json_each(?) as given cross join task_events as e
       on e.task_id = given.value->>'taskId' and e.sequence_number > given.value->>'after'
     group by e.task_id`,
    [JSON.stringify(logs.map(({ taskId, after }) => ({ taskId, after })))],
  );
  return new Map(rows.map(({ task_id, payloads }) => [task_id, payloads]));
}

/** The type of the last event of each of many tasks, by task id. */
export async function readLastTypes(
  from: Queryable,
  tasks: { id: string; lastSequenceNumber: number }[],
): Promise<Map<string, string>> {
  if (tasks.length === 0) return new Map();
  const rows = await from.query<{ task_id: string; type: string }>(
    `select e.task_id, e.type from json_each(?) as given cross join task_events as e
       on e.task_id = given.value->>0 and e.sequence_number = given.value->>1`,
    [JSON.stringify(tasks.map(({ id, lastSequenceNumber }) => [id, lastSequenceNumber]))],
  );
  return new Map(rows.map(({ task_id, type }) => [task_id, type]));
}

/** The snapshot lines of the current start, oldest first: one line a step (see TaskStep.snapshot). */
export async function readSnapshot(from: Queryable, taskId: string, startCount: number): Promise<string[]> {
  const rows = await from.query<{ payload: string }>(
    'select payload from task_snapshots where task_id = ? and start_count = ? order by position',
    [taskId, startCount],
  );
  return rows.flatMap((row) => row.payload.split('\n'));
}

/** The last of these lines, for those whose every line stands for all before it; null where there is none. */
export async function readLastSnapshotLine(
  from: Queryable,
  taskId: string,
  startCount: number,
): Promise<string | null> {
  const [row] = await from.query<{ payload: string }>(
    'select payload from task_snapshots where task_id = ? and start_count = ? order by position desc limit 1',
    [taskId, startCount],
  );
  return row?.payload.split('\n').at(-1) ?? null;
}

export interface SnapshotCount {
  lines: number;
  /** How often the mark stands in them. */
  marked: number;
  first: string;
}

/** What the present start of each task has in snapshot lines, by task id; one that has none is left out. */
export async function countSnapshotLines(
  from: Queryable,
  tasks: { id: string; startCount: number }[],
  mark: string,
): Promise<Map<string, SnapshotCount>> {
  if (tasks.length === 0) return new Map();
  const rows = await from.query<SnapshotCount & { task_id: string }>(
    // Beside min(), a bare column is of the row with the least position.
    `select s.task_id, min(s.position), s.payload as first, sum(1 + length(s.payload) - length(replace(s.payload, char(10), ''))) as lines,
       sum(length(s.payload) - length(replace(s.payload, ?, ''))) as marked
     from json_each(?) as given cross join task_snapshots as s
       on s.task_id = given.value->>'id' and s.start_count = given.value->>'startCount'
     group by s.task_id`,
    [mark, JSON.stringify(tasks.map(({ id, startCount }) => ({ id, startCount })))],
  );
  return new Map(
    rows.map(({ task_id, lines, marked, first }) => [task_id, { lines, marked, first: first.split('\n', 1)[0] ?? '' }]),
  );
}

/** The JSON text of an event: type and number first, then the payload's own fields. */
export function eventJson(type: string, sequenceNumber: number, payload: Record<string, unknown>): string {
  return JSON.stringify({ type, sequence_number: sequenceNumber, ...payload });
}

/** The same for a payload that is JSON already, an object. */
export function eventText(type: string, sequenceNumber: number, payload: string): string {
  return `{"type":${JSON.stringify(type)},"sequence_number":${sequenceNumber}${behindOthers(payload)}`;
}

/** The fields of an object in JSON and its end, to be put behind other fields. */
export function behindOthers(payload: string): string {
  return payload === '{}' ? '}' : `,${payload.slice(1)}`;
}
