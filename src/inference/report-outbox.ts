import type { TurnReport } from './generation/turn-report.js';

/** So many steps are company enough. */
const MOST_HELD_STEPS = 16;

/**
 * Reports on their way to the service. A message for every token of a stream costs the service more than the token: it is
 * woken, and the runner's threads wait for the processor meanwhile. So steps that follow soon after a message are held
 * until `gatherMs` after it, and go out together; whatever else a turn has to tell takes them along at once: a first
 * token, an end, progress of a prompt, that nothing can be done.
 */
export class ReportOutbox {
  private held: TurnReport | null = null;
  private sentAt = -Infinity;

  constructor(
    private readonly send: (report: TurnReport) => void,
    private readonly gatherMs: number,
  ) {}

  add(turn: TurnReport): void {
    this.held = this.held === null ? turn : { ...turn, steps: [...this.held.steps, ...turn.steps] };
    if (performance.now() - this.sentAt >= this.gatherMs || !mayWait(this.held)) this.flush();
  }

  flush(): void {
    if (this.held === null) return;
    const report = this.held;
    this.held = null;
    this.sentAt = performance.now();
    this.send(report);
  }
}

/** Has steps that others follow, and nothing else. */
function mayWait({ prefilled, rebuilt, replayed, steps, ended, idle }: TurnReport): boolean {
  const others = prefilled.length + rebuilt.length + replayed.length + ended.length;
  return others === 0 && !idle && steps.length < MOST_HELD_STEPS && steps.every(([, { index }]) => index > 0);
}
