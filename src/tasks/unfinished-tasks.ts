import type { Tx } from '../database/index.js';

/** Whether there are tasks of a model that are not done. */
export async function hasUnfinishedTasks(tx: Tx, model: string): Promise<boolean> {
  const [found] = await tx.query('select 1 from tasks where model = ? and finished_at is null limit 1', [model]);
  return found !== undefined;
}
