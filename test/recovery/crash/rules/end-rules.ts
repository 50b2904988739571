import { isTerminal } from '../../../../src/tasks/task-transitions.js';
import { Faults, type Fault } from '../../../support/fault.js';
import type { StoredTask } from '../../../support/store-image.js';
import type { ObservedTask } from '../observations.js';

/** Failures that kills explain, and whom they may meet. */
const EXPLAINED: Record<string, (stored: StoredTask) => boolean> = {
  // Row 16: the policy, or nobody left to answer.
  server_restarted: ({ task }) => task.onRestart === 'fail' || !task.background,
  // Rows 12 and 13: interrupted too often.
  retry_limit_exceeded: ({ task }) => task.background && task.interruptions >= task.maxInterruptions,
  // Row 15: its runner was killed alone, and it may not run again, or was the only one to blame twice in a row.
  model_error: ({ task }) => task.onRestart === 'fail' || !task.background || task.suspicion === 2,
  // Rows 12 and 13: its model lost too many processes in a row.
  model_unavailable: ({ task }) => !task.background,
};

/** When everything has ended: nothing is left over, and nothing failed or was cancelled that nobody asked to. */
export function endFaults(stored: StoredTask, observed: ObservedTask | undefined): Fault[] {
  const faults = new Faults();
  const { task } = stored;
  faults.unless(isTerminal(task.status), 'R6', `it is still ${task.status}`);
  if (task.status === 'failed') {
    const { code = '' } = task.error ?? {};
    faults.unless(EXPLAINED[code]?.(stored) === true, 'R6', `nothing explains its failure: ${code}, ${task.onRestart}`);
  }
  if (task.status === 'cancelled' && task.background) {
    faults.unless((observed?.cancels.length ?? 0) > 0, 'R3', 'it was cancelled, and nobody asked');
  }
  return faults.list;
}
