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

/** The snapshot lines of the current start, oldest first: one line a step (see TaskStep.snapshot). */
export async function readSnapshot(from: Queryable, taskId: string, startCount: number): Promise<string[]> {
  const rows = await from.query<{ payload: string }>(
    'select payload from task_snapshots where task_id = ? and start_count = ? order by position',
    [taskId, startCount],
  );
  return rows.flatMap((row) => row.payload.split('\n'));
}

/** The JSON text of an event: type and number first, then the payload's own fields. */
export function eventJson(type: string, sequenceNumber: number, payload: Record<string, unknown>): string {
  return JSON.stringify({ type, sequence_number: sequenceNumber, ...payload });
}
