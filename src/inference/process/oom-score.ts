import { writeFileSync } from 'node:fs';

/** When memory runs out, the system should end a runner and not the service. */
export function offerToOomKiller(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // Only Linux has it, and not everywhere may it be written.
  }
}
