import { ApiError, ConnectionLost, NoService } from './cli-errors.js';
import type { Session } from './session.js';

/** An outage of this length is not mentioned: a service that starts again is back by then. */
const SILENT_MS = 2000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1000;

/** Waits while the service is away, for commands that follow a task across its restarts. */
export class Outage {
  private since: number | null = null;
  private pauseMs = FIRST_PAUSE_MS;
  private isTold = false;

  constructor(private readonly session: Session) {}

  /** Resolves when it is time to try again. Rethrows what waiting cannot help. */
  async wait(error: unknown): Promise<void> {
    if (!isPassing(error)) throw error;
    this.since ??= Date.now();
    if (!this.isTold && Date.now() - this.since >= SILENT_MS) {
      this.isTold = true;
      this.session.terminal.aside('reconnecting…');
    }
    await this.session.api.pause(this.pauseMs);
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
  }

  /** The service has answered. */
  over(): void {
    if (this.isTold) this.session.terminal.aside('connected');
    this.since = null;
    this.isTold = false;
    this.pauseMs = FIRST_PAUSE_MS;
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.isPassing;
  return error instanceof NoService || error instanceof ConnectionLost;
}
