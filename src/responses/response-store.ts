import { Injectable } from '@nestjs/common';
import { packTexts, StoreReader, type Tx } from '../database/index.js';
import type { KeyedRequest } from '../http/index.js';
import { readEvents, readSnapshot, type JsonObject, type Queryable, type Task } from '../tasks/index.js';
import { indexItems } from './response-items.js';
import type { GenerationRecord, ResponseObject, ResponseStatus } from './response-object.js';
import { storedOutput, type FoldStart } from './stored-output.js';

/** A response to be created, together with its task (row 1). */
export interface ResponseDraft {
  clientId: string;
  /** The response as it is right after the accept: status queued, empty output. */
  body: ResponseObject;
  /** Its own items, oldest first. */
  input: JsonObject[];
  /** Responses that must still be there when it is stored (WIRE B3, order of work). */
  references: string[];
  generation: GenerationRecord;
  /** The request, where its sender gave it a key. */
  keyed?: KeyedRequest;
}

/** What is inserted of a draft: made before its unit begins, so that the unit holds up no other. */
export interface NewRow {
  draft: ResponseDraft;
  /** JSON of the response, as its row, its first events and the 202 have it. */
  body: string;
  /** JSON of its own items. */
  input: string;
  /** JSON of its generation record. */
  generation: string;
}

export function newRow(draft: ResponseDraft): NewRow {
  const { body, input, generation } = draft;
  return {
    draft,
    body: JSON.stringify(body),
    input: JSON.stringify(input),
    generation: JSON.stringify(generation),
  };
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

/** Rows of `responses`: the OpenAI view of a task, and all its generation is a function of. */
@Injectable()
export class ResponseStore {
  constructor(private readonly reader: StoreReader) {}

  /** Inserts many responses with one statement; their tasks are enqueued in the same unit. */
  async insert(tx: Tx, responses: NewRow[]): Promise<void> {
    const { bytes, places } = packTexts(responses.flatMap(({ body, input, generation }) => [body, input, generation]));
    const rows = responses.map(({ draft: { clientId, body } }, i) => [
      body.id,
      clientId,
      body.model,
      body.status,
      body.previous_response_id,
      ...places.slice(3 * i, 3 * i + 3).flat(),
    ]);
    await tx.execute(
      `INSERT INTO responses (id, client_id, model, status, created_at, body, body_sequence_number, input, generation,
         previous_response_id)
       SELECT value->>0, value->>1, value->>2, value->>3, ?1, CAST(substr(?2, value->>5, value->>6) AS TEXT), 1,
         CAST(substr(?2, value->>7, value->>8) AS TEXT), CAST(substr(?2, value->>9, value->>10) AS TEXT), value->>4
       FROM json_each(?3)`,
      [Date.now(), bytes, JSON.stringify(rows)],
    );
    await indexItems(
      tx,
      responses.map(({ draft: { body, input } }) => ({ responseId: body.id, items: input })),
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
    return { taskId, body: { ...body, output: await storedOutput(this.reader, foldStart(row, body)) } };
  }

  /** The response as its 202 showed it: the snapshot of event 1; null when it is gone. */
  async asAccepted(taskId: string): Promise<ResponseObject | null> {
    const [event] = await readEvents(this.reader, taskId, 0, 1);
    return event ? (JSON.parse(event.payload) as { response: ResponseObject }).response : null;
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
    return storedOutput(this.reader, foldStart(row, JSON.parse(row.body) as ResponseObject));
  }

  /** Deletes a response; the database refuses one whose task is unfinished. */
  async remove(tx: Tx, id: string): Promise<void> {
    await tx.execute('DELETE FROM responses WHERE id = ?', [id]);
  }
}

/** A task and its response share the suffix of their ids (WIRE B0). */
export function taskIdOf(responseId: string): string {
  return `task_${responseId.slice(responseId.indexOf('_') + 1)}`;
}

function foldStart({ id, body_sequence_number: after }: ResponseRow, { output }: ResponseObject): FoldStart {
  return { taskId: taskIdOf(id), output, after };
}
