import { Injectable } from '@nestjs/common';
import { StoreReader, type Tx } from '../database/index.js';
import type { KeyedRequest } from '../http/index.js';
import {
  readEvents,
  readSnapshot,
  type JsonObject,
  type Queryable,
  type Task,
  type TaskChange,
} from '../tasks/index.js';
import { closeOpenItems, foldOutput } from './response-fold.js';
import type { GenerationRecord, ResponseObject, ResponseStatus, ResponseUsage } from './response-object.js';

/** A response to be created, together with its task (row 1). */
export interface ResponseDraft {
  clientId: string;
  /** The response as it is right after the accept: status queued, empty output. */
  body: ResponseObject;
  /** Items as `GET …/input_items` lists them, oldest first. */
  input: JsonObject[];
  generation: GenerationRecord;
  /** The request, where its sender gave it a key. */
  keyed?: KeyedRequest;
}

/** A response as it stands: the stored snapshot and, while it runs, what its events added since. */
export interface StoredResponse {
  taskId: string;
  body: ResponseObject;
}

interface ResponseRow {
  id: string;
  body: string;
  body_sequence_number: number;
}

/** Events read for one fold; a response has about one for each token. */
const FOLD_PAGE = 1000;

/** Rows of `responses`: the OpenAI view of a task, and all its generation is a function of. */
@Injectable()
export class ResponseStore {
  constructor(private readonly reader: StoreReader) {}

  /** Inserts many responses with one statement; their tasks are enqueued in the same unit. */
  async insert(tx: Tx, drafts: ResponseDraft[]): Promise<void> {
    const now = Date.now();
    const rows = drafts.map(({ clientId, body, input, generation }) => ({
      id: body.id,
      client: clientId,
      model: body.model,
      status: body.status,
      body: JSON.stringify(body),
      input: JSON.stringify(input),
      generation: JSON.stringify(generation),
      previous: body.previous_response_id,
    }));
    await tx.execute(
      `INSERT INTO responses (id, client_id, model, status, created_at, body, body_sequence_number, input, generation,
         previous_response_id)
       SELECT value->>'id', value->>'client', value->>'model', value->>'status', ?, value->>'body', 1,
         value->>'input', value->>'generation', value->>'previous' FROM json_each(?)`,
      [now, JSON.stringify(rows)],
    );
  }

  /** Null for a foreign id as for one that never was (WIRE B0). */
  async find(id: string, clientId: string): Promise<StoredResponse | null> {
    const [row] = await this.reader.query<ResponseRow & { status: ResponseStatus }>(
      'select id, body, body_sequence_number, status from responses where id = ? and client_id = ?',
      [id, clientId],
    );
    if (!row) return null;
    const taskId = taskIdOf(id);
    const body = JSON.parse(row.body) as ResponseObject;
    if (row.status !== 'in_progress') return { taskId, body };
    return { taskId, body: { ...body, output: await fold(this.reader, taskId, body, row.body_sequence_number) } };
  }

  /** The response as its 202 showed it: the snapshot of event 1; null when it is gone. */
  async asAccepted(taskId: string): Promise<ResponseObject | null> {
    const [event] = await readEvents(this.reader, taskId, 0, 1);
    return event ? (JSON.parse(event.payload) as { response: ResponseObject }).response : null;
  }

  /** The input items, oldest first, or null. */
  async inputItems(id: string, clientId: string): Promise<JsonObject[] | null> {
    const [row] = await this.reader.query<{ input: string }>(
      'select input from responses where id = ? and client_id = ?',
      [id, clientId],
    );
    return row ? (JSON.parse(row.input) as JsonObject[]) : null;
  }

  /** What the generation of an unfinished response is a function of. */
  async generation(id: string, from: Queryable = this.reader): Promise<GenerationRecord> {
    const [row] = await from.query<{ generation: string | null }>('select generation from responses where id = ?', [
      id,
    ]);
    if (!row?.generation) throw new Error(`response ${id} has no generation record`);
    return JSON.parse(row.generation) as GenerationRecord;
  }

  /** The snapshot lines of the task's present start (token-log.ts). */
  tokenLines({ id, startCount }: Task, from: Queryable = this.reader): Promise<string[]> {
    return readSnapshot(from, id, startCount);
  }

  /** Says in the stored response that an attempt goes on behind tokens that it decodes again. No event tells so. */
  async takeUp(tx: Tx, id: string, attempt: number, replayedTokens: number): Promise<void> {
    await tx.execute(
      `UPDATE responses SET body = json_set(body, '$.lmsp.attempt', ?, '$.lmsp.replayed_tokens', ?) WHERE id = ?`,
      [attempt, replayedTokens, id],
    );
  }

  /** The output as its events on disk make it: what readers have seen. */
  async output(id: string): Promise<ResponseObject['output']> {
    const [row] = await this.reader.query<ResponseRow>(
      'select id, body, body_sequence_number from responses where id = ?',
      [id],
    );
    if (!row) throw new Error(`response ${id} does not exist`);
    return fold(this.reader, taskIdOf(id), JSON.parse(row.body) as ResponseObject, row.body_sequence_number);
  }

  /** Deletes a response; the database refuses one whose task is unfinished. */
  async remove(tx: Tx, id: string): Promise<void> {
    await tx.execute('DELETE FROM responses WHERE id = ?', [id]);
  }

  /**
   * The snapshot of a lifecycle event, written to the row as well so that both are one (invariant 3). Output and usage
   * are computed from the events and snapshots on disk, inside the unit, never from a runner's memory.
   */
  async project(tx: Tx, change: TaskChange): Promise<{ response: ResponseObject }> {
    const { task } = change;
    const id = task.responseId;
    if (id === null) throw new Error(`task ${task.id} has no response`);
    const [row] = await tx.query<ResponseRow & { generation: string | null }>(
      'select id, body, body_sequence_number, generation from responses where id = ?',
      [id],
    );
    if (!row) throw new Error(`response ${id} of task ${task.id} does not exist`);
    const response = await this.snapshot(tx, change, row);
    const finished = task.finishedAt;
    await tx.execute(
      `UPDATE responses SET status = ?, body = ?, body_sequence_number = ?, completed_at = ?, finished_at = ?,
         generation = CASE WHEN ? IS NULL THEN generation END WHERE id = ?`,
      [
        response.status,
        JSON.stringify(response),
        change.sequenceNumber,
        response.completed_at === null ? null : finished,
        finished,
        finished,
        id,
      ],
    );
    return { response };
  }

  private async snapshot(
    tx: Tx,
    { task, event }: TaskChange,
    row: ResponseRow & { generation: string | null },
  ): Promise<ResponseObject> {
    const body = JSON.parse(row.body) as ResponseObject;
    const status = statusOf(event);
    const ended = task.finishedAt !== null;
    const output = event === 'response.queued' ? [] : await fold(tx, task.id, body, row.body_sequence_number);
    return {
      ...body,
      status,
      completed_at: status === 'completed' && task.finishedAt !== null ? Math.floor(task.finishedAt / 1000) : null,
      incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
      error: task.error,
      output: ended ? closeOpenItems(output) : output,
      usage: ended ? await usage(tx, task.id, task.startCount, row.generation) : null,
      lmsp: {
        ...body.lmsp,
        task_status: task.status,
        attempt: task.attempt,
        replayed_tokens: event === 'response.queued' ? 0 : body.lmsp.replayed_tokens,
      },
    };
  }
}

/** A task and its response share the suffix of their ids (WIRE B0). */
export function taskIdOf(responseId: string): string {
  return `task_${responseId.slice(responseId.indexOf('_') + 1)}`;
}

async function fold(
  from: Queryable,
  taskId: string,
  body: ResponseObject,
  after: number,
): Promise<ResponseObject['output']> {
  let output = body.output;
  let last = after;
  for (;;) {
    const events = await readEvents(from, taskId, last, FOLD_PAGE);
    output = foldOutput(
      output,
      events.map((event) => event.payload),
    );
    const end = events.at(-1);
    if (!end || events.length < FOLD_PAGE) return output;
    last = end.sequenceNumber;
  }
}

/** Tokens of the present start: the prompt's and one for each snapshot line. */
async function usage(
  tx: Tx,
  taskId: string,
  startCount: number,
  generation: string | null,
): Promise<ResponseUsage | null> {
  if (generation === null) return null;
  const inputTokens = (JSON.parse(generation) as GenerationRecord).promptIds.length;
  const outputTokens = (await readSnapshot(tx, taskId, startCount)).length;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
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
