import type { Task } from '../tasks/task.js';
import type { Fault } from './fault.js';
import { logFaults } from './log-invariants.js';
import { responseFaults } from './response-invariants.js';
import { readStoreImage, type StoredTask } from './store-image.js';

export interface StoredLogs {
  tasks: Task[];
  /** Faults of every log, each with its task's id; an empty list is right. */
  faults: string[];
}

/** Reads every task and its log from the store of a service that has ended, and checks the invariants of WIRE B5. */
export async function openStoredLogs(dataDir: string): Promise<StoredLogs> {
  const image = await readStoreImage(dataDir);
  const stored = [...image.tasks.values()];
  const faults = stored.flatMap((each) =>
    storedFaults(each).map(({ rule, what }) => `${each.task.id}: ${what} (${rule})`),
  );
  return { tasks: stored.map(({ task }) => task), faults: [...image.faults.map(({ what }) => what), ...faults] };
}

/** Faults of one task's rows against each other. */
export function storedFaults(stored: StoredTask): Fault[] {
  const faults = logFaults(stored.task, stored.events);
  return stored.task.type === 'response' ? [...faults, ...responseFaults(stored)] : faults;
}
