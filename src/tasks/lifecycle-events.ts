import type { Tx } from '../database/index.js';
import type { ErrorBody } from '../errors/index.js';
import { insertEvents } from './step-writer.js';
import type { TaskChange, TaskHandlers } from './task-handlers.js';
import { eventJson, eventText, type StoredEvent } from './task-log.js';
import { TASK_TRANSITIONS, type LifecycleEvent, type TaskCommand, type Transition } from './task-transitions.js';
import type { JsonObject, Task } from './task.js';

/** Tasks after their guarded update, and what they fail with. */
export interface MovedTasks {
  command: TaskCommand;
  tasks: Task[];
  error: ErrorBody | null;
}

/** Appends the events of these transitions, whose numbers the tasks have taken. Answers with them by task id. */
export async function appendLifecycleEvents(
  tx: Tx,
  handlers: TaskHandlers,
  moved: readonly MovedTasks[],
  now: number,
): Promise<Map<string, StoredEvent[]>> {
  const payloads = await payloadsOf(tx, handlers, moved.flatMap(changesOf));
  const logs = new Map<string, StoredEvent[]>();
  for (const { command, tasks, error } of moved) {
    for (const task of tasks) logs.set(task.id, eventsOf(command, task, error, payloads.get(task.id)));
  }
  await insertEvents(
    tx,
    [...logs].flatMap(([taskId, events]) => events.map((event) => ({ taskId, ...event }))),
    now,
  );
  return logs;
}

/** A transition has one lifecycle event at most, its last; an `error` may precede it. */
function changesOf({ command, tasks }: MovedTasks): TaskChange[] {
  const { events }: Transition = TASK_TRANSITIONS[command];
  const event = events.at(-1);
  if (event === undefined || event === 'error') return [];
  return tasks.map((task) => ({ task, event, sequenceNumber: task.lastSequenceNumber }));
}

/** The JSON of each change's payload, by the id of its task. */
async function payloadsOf(tx: Tx, handlers: TaskHandlers, changes: TaskChange[]): Promise<Map<string, string>> {
  const payloads = new Map<string, string>();
  for (const type of new Set(changes.map(({ task }) => task.type))) {
    const ofType = changes.filter(({ task }) => task.type === type);
    const texts = await handlers.payloads(tx, type, ofType);
    for (const [i, { task }] of ofType.entries()) payloads.set(task.id, texts[i] ?? '{}');
  }
  return payloads;
}

function eventsOf(command: TaskCommand, task: Task, error: ErrorBody | null, payload = '{}'): StoredEvent[] {
  const { events }: Transition = TASK_TRANSITIONS[command];
  const first = task.lastSequenceNumber - events.length + 1;
  return events.map((type: 'error' | LifecycleEvent, i) => {
    const sequenceNumber = first + i;
    const text =
      type === 'error'
        ? eventJson(type, sequenceNumber, errorPayload(error))
        : eventText(type, sequenceNumber, payload);
    return { sequenceNumber, type, payload: text };
  });
}

/** The flat fields are OpenAI's, the nested object Open Responses' (WIRE B5). */
export function errorPayload(error: ErrorBody | null): JsonObject {
  if (!error) throw new Error('a failure needs its error');
  return { code: error.code, message: error.message, param: error.param, error };
}
