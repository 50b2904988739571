import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Niceness: enough for the service to be served first, too little to be starved by other programs. */
const PRIORITY = 2;

/**
 * Called by every child process of the service that computes, before it makes threads: they inherit it. The processor
 * serves the service first, and when memory runs out, the system should end a runner and not the service.
 */
export function giveWay(): void {
  attempt(() => setPriority(PRIORITY));
  attempt(() => writeFileSync('/proc/self/oom_score_adj', '500'));
}

/** Not every system has it, and not everywhere may it be set. */
function attempt(set: () => void): void {
  try {
    set();
  } catch {
    // It runs all the same.
  }
}
