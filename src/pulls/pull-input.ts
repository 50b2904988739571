import type { Dtype } from '../models/index.js';
import type { JsonObject, Task } from '../tasks/index.js';

export const PULL_TASK_TYPE = 'model.pull';

/** What is asked for, as it is stored with the task. */
export interface PullInput {
  repository: string;
  revision: string;
  /** What the model will be called. */
  id: string;
  /** Null: the first graph that there is. */
  dtype: Dtype | null;
}

export function inputOf({ id, input }: Task): PullInput {
  if (input === null) throw new Error(`task ${id} has no input`);
  return input as unknown as PullInput;
}

export function storedInput(input: PullInput): JsonObject {
  return { ...input };
}
