import type { TaskObject } from '../api-objects.js';
import { EXIT } from '../exit-codes.js';
import { onInterrupt } from '../interrupts.js';
import { Outage } from '../outage.js';
import type { Session } from '../session.js';
import { taskId } from '../task-api.js';
import { printOutcome } from './tasks.js';

const TERMINAL = ['completed', 'failed', 'cancelled'];
/** A queued task asks for two seconds; whoever waits for it wants to know sooner. */
const LONGEST_PAUSE_MS = 500;

/** `lmsp tasks wait`: until every one has ended; 0 if all are completed. */
export async function waitForTasks(session: Session, typed: string[]): Promise<number> {
  const ids: string[] = [];
  for (const each of typed) ids.push(await taskId(session.api, each));
  const done = onInterrupt(() => {
    session.terminal.note(`the tasks go on; come back with: lmsp tasks wait ${ids.join(' ')}`);
    process.exit(EXIT.interrupted);
  });
  const tasks: TaskObject[] = [];
  for (const id of ids) tasks.push(await ended(session, id));
  done();
  await printOutcome(session, tasks, ids.length === 1);
  return tasks.every(({ status }) => status === 'completed') ? EXIT.done : EXIT.failed;
}

/** Across restarts of the service, once it has answered. */
async function ended(session: Session, id: string): Promise<TaskObject> {
  const { api } = session;
  const outage = new Outage(session);
  let task = await api.json<TaskObject>('GET', `/v1/tasks/${id}`);
  while (!TERMINAL.includes(task.status)) {
    await api.pause(Math.min(task.poll_interval_ms, LONGEST_PAUSE_MS));
    try {
      task = await api.json<TaskObject>('GET', `/v1/tasks/${id}`);
      outage.over();
    } catch (error) {
      await outage.wait(error);
    }
  }
  return task;
}
