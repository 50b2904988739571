import type { TaskObject } from '../api-objects.js';
import { UsageError } from '../cli-errors.js';
import { EXIT } from '../exit-codes.js';
import { timeText } from '../human-text.js';
import { printList, printObject, type Columns, type List } from '../listing.js';
import { confirm } from '../question.js';
import type { Session } from '../session.js';
import { allTasks, queryText, readTasks, taskId } from '../task-api.js';

export interface TaskListOptions {
  status?: string;
  model?: string;
  limit?: number;
  after?: string;
}

export async function listTasks(session: Session, options: TaskListOptions): Promise<number> {
  const { status, model, limit, after } = options;
  await printTasks(session, await readTasks(session.api, { status, model, limit, after }));
  return EXIT.done;
}

export async function showTask(session: Session, typed: string): Promise<number> {
  printTask(session, await session.api.json('GET', `/v1/tasks/${await taskId(session.api, typed)}`));
  return EXIT.done;
}

interface TaskEvent {
  type: string;
  sequence_number: number;
  delta?: string;
  response?: { status: string };
  id?: string;
}

/** The log of a task: one page, or with `jsonl` all of it. */
export async function listEvents(
  session: Session,
  typed: string,
  { from = 0, limit }: { from?: number; limit?: number },
): Promise<number> {
  const id = await taskId(session.api, typed);
  let after = from - 1;
  for (;;) {
    const query = queryText({ starting_after: after, limit: limit ?? 1000 });
    const page = await session.api.json<List<TaskEvent>>('GET', `/v1/tasks/${id}/events?${query}`);
    await printList(session, page, EVENT_COLUMNS, ({ sequence_number: number }) => String(number));
    after = page.data.at(-1)?.sequence_number ?? after;
    if (!page.has_more) return EXIT.done;
    if (session.terminal.format === 'json' || limit !== undefined) {
      session.terminal.aside(`there is more: --from ${after + 1}`);
      return EXIT.done;
    }
  }
}

/** Waits for nothing: `cancelling` is an answer too. */
export async function cancelTasks(
  session: Session,
  typed: string[],
  { queued }: { queued?: boolean },
): Promise<number> {
  if ((queued === true) === typed.length > 0) throw new UsageError('name tasks to cancel, or say --queued');
  const ids = queued === true ? await queuedTasks(session) : [];
  for (const each of typed) ids.push(await taskId(session.api, each));
  if (queued === true && ids.length > 0) await confirm(session, `Cancel ${ids.length} queued tasks?`);
  const tasks: TaskObject[] = [];
  for (const id of ids) tasks.push(await session.api.json<TaskObject>('POST', `/v1/tasks/${id}/cancel`));
  await printOutcome(session, tasks, typed.length === 1);
  return EXIT.done;
}

async function queuedTasks({ api, terminal }: Session): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id, model, created_at: at } of allTasks(api, { status: 'queued' })) {
    ids.push(id);
    terminal.aside(`${id}  ${model ?? ''}  ${timeText(at)}`);
  }
  return ids;
}

/** One task as itself, several as a list. */
export async function printOutcome(session: Session, tasks: TaskObject[], isOne: boolean): Promise<void> {
  if (isOne) return printTask(session, tasks[0]!);
  const ends = { first_id: tasks[0]?.id ?? null, last_id: tasks.at(-1)?.id ?? null };
  await printTasks(session, { object: 'list', data: tasks, ...ends, has_more: false });
}

const EVENT_COLUMNS: Columns<TaskEvent> = {
  NUMBER: ({ sequence_number: number }) => number,
  TYPE: ({ type }) => type,
  WHAT: ({ delta, response }) => (delta === undefined ? (response?.status ?? '') : JSON.stringify(delta)),
};

async function printTasks(session: Session, list: List<TaskObject>): Promise<void> {
  const { time } = session.options;
  await printList(session, list, {
    TASK: ({ id }) => id,
    STATUS: ({ status }) => status,
    MODEL: ({ model, type }) => model ?? type,
    TOKENS: ({ progress }) => progress.output_tokens || null,
    ATTEMPT: ({ attempt }) => attempt,
    CREATED: ({ created_at: at }) => timeText(at, time),
    ENDED: ({ finished_at: at }) => timeText(at, time),
    ERROR: ({ error }) => error?.code ?? null,
  });
}

export function printTask(session: Session, task: TaskObject): void {
  const { time } = session.options;
  printObject(session, task, {
    task: task.id,
    status: task.status,
    error: task.error && `${task.error.message} (${task.error.code})`,
    type: task.type,
    model: task.model,
    response: task.response_id,
    client: task.client_id,
    runs: `${task.background ? 'in the background' : 'in the foreground'}, on restart: ${task.on_restart}`,
    attempt: `${task.attempt}, ${task.interruptions} of ${task.max_interruptions} interruptions`,
    'queue position': task.queue_position,
    tokens: task.progress.output_tokens || null,
    'last event': task.last_sequence_number,
    created: timeText(task.created_at, time),
    started: task.started_at && timeText(task.started_at, time),
    ended: task.finished_at && timeText(task.finished_at, time),
    expires: task.expires_at && timeText(task.expires_at, time),
  });
}
