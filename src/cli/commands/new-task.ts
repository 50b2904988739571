import type { TaskObject } from '../api-objects.js';
import { UsageError } from '../cli-errors.js';
import { EXIT } from '../exit-codes.js';
import type { Session } from '../session.js';
import { printTask } from './tasks.js';

export interface NewTaskOptions {
  input?: string;
  onRestart?: string;
}

export async function createTask(
  session: Session,
  type: string,
  { input = '{}', onRestart }: NewTaskOptions,
): Promise<number> {
  const body = { type, input: await jsonOf(input), ...(onRestart !== undefined && { on_restart: onRestart }) };
  printTask(session, await session.api.json<TaskObject>('POST', '/v1/tasks', { body }));
  return EXIT.done;
}

async function jsonOf(given: string): Promise<unknown> {
  const { text } = await import('node:stream/consumers');
  const json = given === '-' ? await text(process.stdin) : given;
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw new UsageError('--input must be JSON, as {"pages": 3}');
  }
}
