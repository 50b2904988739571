import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError } from '../errors/index.js';
import { EventStreams } from '../http/index.js';
import { Notices } from '../notices/index.js';
import { TaskCancellation } from '../tasks/index.js';

interface Owned {
  connections: number;
  /** Time that the task outlives its last connection. */
  graceMs: number;
  /** Runs while there is no connection. */
  timer: NodeJS.Timeout | null;
}

/** One connection's share in a task. */
export interface Share {
  /** The connection is done with the task; `ended`: because the task was. */
  leave(ended: boolean): void;
}

/**
 * Which connections a foreground task belongs to: that of its POST and those of repeats with its key (WIRE B3). A task
 * that nobody waits for is cancelled: at once, or, when a repeat may still come for it, after the grace.
 */
@Injectable()
export class ForegroundOwnership {
  private readonly owned = new Map<string, Owned>();

  constructor(
    private readonly cancellation: TaskCancellation,
    private readonly streams: EventStreams,
    private readonly notices: Notices,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** A connection waits for the task; `keyed`: the task has a key, so that a repeat may come. */
  join(taskId: string, keyed: boolean): Share {
    const graceMs = keyed ? this.config.foregroundGraceSeconds * 1000 : 0;
    const owned = this.owned.get(taskId) ?? { connections: 0, graceMs, timer: null };
    this.owned.set(taskId, owned);
    owned.connections += 1;
    stop(owned);
    return { leave: (ended) => this.leave(taskId, owned, ended) };
  }

  /** A repeat was told to come again: the grace begins anew. */
  renew(taskId: string): void {
    const owned = this.owned.get(taskId);
    if (owned?.timer) this.startGrace(taskId, owned);
  }

  private leave(taskId: string, owned: Owned, ended: boolean): void {
    owned.connections -= 1;
    if (ended) this.owned.delete(taskId);
    else if (owned.connections === 0 && this.owned.get(taskId) === owned) this.startGrace(taskId, owned);
  }

  private startGrace(taskId: string, owned: Owned): void {
    stop(owned);
    const abandon = (): void => {
      this.owned.delete(taskId);
      void this.cancel(taskId);
    };
    if (owned.graceMs === 0) abandon();
    else owned.timer = setTimeout(abandon, owned.graceMs).unref();
  }

  /** Nobody would read the rest. During a stop a closed connection says nothing (WIRE B6). */
  private async cancel(taskId: string): Promise<void> {
    if (this.streams.stopping) return;
    try {
      await this.cancellation.cancel(taskId);
    } catch (error) {
      const tooLate = error instanceof DomainError && ['task_not_cancellable', 'task_not_found'].includes(error.code);
      if (!tooLate) this.notices.emit('task.fault', { task_id: taskId, error });
    }
  }
}

function stop(owned: Owned): void {
  if (owned.timer) clearTimeout(owned.timer);
  owned.timer = null;
}
