import { readEvents } from '../../src/tasks/task-log.js';
import { taskFromRow, type Task, type TaskRow } from '../../src/tasks/task.js';
import { logFaults } from './log-invariants.js';
import { openStore } from '../../src/database/index.js';
import { storeOptions } from './store.js';

export interface StoredLogs {
  tasks: Task[];
  /** Faults of every log, each with its task's id; an empty list is right. */
  faults: string[];
}

/** Reads every task and its log from the store of a service that has ended, and checks the invariants of WIRE B5. */
export async function openStoredLogs(dataDir: string): Promise<StoredLogs> {
  const store = await openStore(storeOptions(dataDir));
  try {
    const rows = await store.reader.query<TaskRow>('select * from tasks order by position');
    const tasks = rows.map(taskFromRow);
    const faults: string[] = [];
    for (const task of tasks) {
      const events = await readEvents(store.reader, task.id, -1, 1_000_000);
      for (const fault of logFaults(task, events)) faults.push(`${task.id}: ${fault}`);
      const stored = await snapshotFault(store.reader, task, events.at(-1)?.payload);
      if (stored) faults.push(`${task.id}: ${stored}`);
    }
    return { tasks, faults };
  } finally {
    await store.close();
  }
}

/** Invariant 3: the terminal event's snapshot is the stored response. */
async function snapshotFault(
  reader: { query<R>(sql: string, parameters?: unknown[]): Promise<R[]> },
  task: Task,
  lastPayload: string | undefined,
): Promise<string | null> {
  if (task.finishedAt === null || task.responseId === null || lastPayload === undefined) return null;
  const [row] = await reader.query<{ body: string }>('select body from responses where id = ?', [task.responseId]);
  const event = JSON.parse(lastPayload) as { response: unknown };
  return row && JSON.stringify(event.response) === row.body ? null : 'the last snapshot is not the stored response';
}
