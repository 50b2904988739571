import type { Tx } from '../database/index.js';
import type { KeyedRequest } from '../http/index.js';
import { TASK_TRANSITIONS, type OnRestart } from './task-transitions.js';
import type { JsonObject, Task } from './task.js';

/** A task to be created (row 1). */
export interface TaskDraft {
  id: string;
  type: string;
  clientId: string;
  responseId: string | null;
  model: string | null;
  onRestart: OnRestart;
  background: boolean;
  input: JsonObject | null;
  metadata: Record<string, string>;
  /** Unclean ends before the task is given up. */
  maxInterruptions: number;
  /** JSON of the payload of the events 0 and 1, e.g. `{"response":…}` with status queued; or what makes the payload of the new row. */
  view: string | ((task: Task) => JsonObject);
  /** The request, where its sender gave it a key: bound to the task in the same unit. */
  keyed?: KeyedRequest;
}

/** Inserts the rows of new tasks in order, one statement for all (STACK 3.1). */
export async function insertTasks(tx: Tx, drafts: TaskDraft[], now: number): Promise<Task[]> {
  const rows = drafts.map((draft) => [
    draft.id,
    draft.type,
    draft.clientId,
    draft.responseId,
    draft.model,
    draft.onRestart,
    draft.background ? 1 : 0,
    draft.maxInterruptions,
    draft.input === null ? null : JSON.stringify(draft.input),
    JSON.stringify(draft.metadata),
  ]);
  const last = TASK_TRANSITIONS.enqueue.events.length - 1;
  const inserted = await tx.query<{ position: number; id: string }>(
    `with draft as (select value, key from json_each(?))
     insert into tasks (id, type, client_id, response_id, model, status, on_restart, background, attempt, interruptions,
       max_interruptions, start_count, owner, suspect, last_sequence_number, input, metadata, created_at, updated_at)
     select value->>0, value->>1, value->>2, value->>3, value->>4, 'queued', value->>5, value->>6, 0, 0, value->>7, 0,
       null, 0, ?, value->>8, value->>9, ?, ?
     from draft order by key returning position, id`,
    [JSON.stringify(rows), last, now, now],
  );
  const positions = new Map(inserted.map(({ id, position }) => [id, position]));
  return drafts.map((draft) => newTask(draft, positions.get(draft.id)!, last, now));
}

/** As its row has it: to read all of it back would cost more than to write it. */
function newTask(draft: TaskDraft, position: number, lastSequenceNumber: number, now: number): Task {
  return {
    position,
    id: draft.id,
    type: draft.type,
    clientId: draft.clientId,
    responseId: draft.responseId,
    model: draft.model,
    status: TASK_TRANSITIONS.enqueue.to,
    onRestart: draft.onRestart,
    background: draft.background,
    attempt: 0,
    interruptions: 0,
    maxInterruptions: draft.maxInterruptions,
    startCount: 0,
    owner: null,
    suspicion: 0,
    lastSequenceNumber,
    input: draft.input,
    result: null,
    error: null,
    metadata: draft.metadata,
    createdAt: now,
    updatedAt: now,
    startedAt: null,
    finishedAt: null,
    cancelRequestedAt: null,
    eventsExpiredAt: null,
  };
}
