import { packTexts, type Tx } from '../database/index.js';
import { countSnapshotLines, type SnapshotCount, type TaskChange } from '../tasks/index.js';
import { closeOpenItems } from './response-fold.js';
import { indexItems } from './response-items.js';
import type { OutputItem, ResponseObject, ResponseStatus, ResponseUsage } from './response-object.js';
import { usage } from './response-usage.js';
import { storedOutputs } from './stored-output.js';
import { cachedTokensOf, REASONING_MARK } from './token-log.js';

interface ProjectedRow {
  id: string;
  body: string;
  body_sequence_number: number;
  /** Prompt tokens; null once the generation record has been given up. */
  input_tokens: number | null;
}

const NOTHING: SnapshotCount = { lines: 0, marked: 0, first: '' };

/** One change with all that its snapshot is made of. */
interface Projected extends TaskChange {
  row: ProjectedRow;
  body: ResponseObject;
}

/**
 * The snapshots of lifecycle events, one for each change, in order, as JSON; written to the rows as well, so that both are
 * one (invariant 3). Output and usage are computed from the events and snapshots on disk, inside the unit, never from a
 * runner's memory. A fixed number of statements, however many tasks move together.
 */
export async function projectResponses(tx: Tx, changes: TaskChange[]): Promise<string[]> {
  const projected = await readProjected(tx, changes);
  const outputs = await outputsOf(tx, projected);
  const counted = await countSnapshotLines(
    tx,
    projected.filter(({ task }) => task.finishedAt !== null).map(({ task }) => task),
    REASONING_MARK,
  );
  const snapshots = projected.map((each) =>
    snapshot(each, outputs.get(each.task.id) ?? [], counted.get(each.task.id) ?? NOTHING),
  );
  const bodies = snapshots.map((response) => JSON.stringify(response));
  await writeBodies(tx, projected, snapshots, bodies);
  const ended = snapshots.filter((_, i) => projected[i]?.task.finishedAt !== null);
  await indexItems(
    tx,
    ended.map(({ id, output }) => ({ responseId: id, items: output })),
  );
  return bodies;
}

async function readProjected(tx: Tx, changes: TaskChange[]): Promise<Projected[]> {
  const ids = changes.map(({ task }) => task.responseId);
  const rows = await tx.query<ProjectedRow>(
    `select id, body, body_sequence_number, json_array_length(generation, '$.promptIds') as input_tokens
     from responses where id in (select value from json_each(?))`,
    [JSON.stringify(ids)],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return changes.map((change) => {
    const { id, responseId } = change.task;
    if (responseId === null) throw new Error(`task ${id} has no response`);
    const row = byId.get(responseId);
    if (!row) throw new Error(`response ${responseId} of task ${id} does not exist`);
    return { ...change, row, body: JSON.parse(row.body) as ResponseObject };
  });
}

/** By task id; a task that waits again has none. */
function outputsOf(tx: Tx, projected: Projected[]): Promise<Map<string, OutputItem[]>> {
  const kept = projected.filter(({ event }) => event !== 'response.queued');
  return storedOutputs(
    tx,
    kept.map(({ task, body, row, sequenceNumber }) => ({
      taskId: task.id,
      output: body.output,
      after: row.body_sequence_number,
      last: sequenceNumber - 1,
    })),
  );
}

function snapshot({ task, event, body, row }: Projected, output: OutputItem[], counted: SnapshotCount): ResponseObject {
  const status = statusOf(event);
  const ended = task.finishedAt !== null;
  return {
    ...body,
    status,
    completed_at: status === 'completed' && task.finishedAt !== null ? Math.floor(task.finishedAt / 1000) : null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    error: task.error,
    output: ended ? closeOpenItems(output) : output,
    usage: ended ? usageOf(row.input_tokens, counted) : null,
    lmsp: {
      ...body.lmsp,
      task_status: task.status,
      attempt: task.attempt,
      replayed_tokens: event === 'response.queued' ? 0 : body.lmsp.replayed_tokens,
    },
  };
}

/** Tokens of the present start: the prompt's and one for each snapshot line. */
function usageOf(inputTokens: number | null, { lines, marked, first }: SnapshotCount): ResponseUsage | null {
  if (inputTokens === null) return null;
  return usage({ input: inputTokens, cached: cachedTokensOf(first), output: lines, reasoning: marked });
}

async function writeBodies(
  tx: Tx,
  projected: Projected[],
  snapshots: ResponseObject[],
  bodies: string[],
): Promise<void> {
  const { bytes, places } = packTexts(bodies);
  const rows = snapshots.map(({ id, status, completed_at: completed }, i) => {
    const { task, sequenceNumber } = projected[i]!;
    const finished = task.finishedAt;
    return [id, status, sequenceNumber, completed === null ? null : finished, finished, ...places[i]!];
  });
  await tx.execute(
    `UPDATE responses SET status = v.value->>1, body_sequence_number = v.value->>2, completed_at = v.value->>3,
       finished_at = v.value->>4, body = CAST(substr(?, v.value->>5, v.value->>6) AS TEXT),
       generation = CASE WHEN v.value->>4 IS NULL THEN generation END
     FROM json_each(?) AS v WHERE responses.id = v.value->>0`,
    [bytes, JSON.stringify(rows)],
  );
}

function statusOf(event: TaskChange['event']): ResponseStatus {
  switch (event) {
    case 'response.created':
    case 'response.queued':
      return 'queued';
    case 'response.in_progress':
      return 'in_progress';
    case 'response.completed':
      return 'completed';
    case 'response.incomplete':
      return 'incomplete';
    case 'response.failed':
      return 'failed';
    case 'response.cancelled':
      return 'cancelled';
  }
}
