import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import type { Tx } from '../database/index.js';
import { DomainError, ServiceStopping } from '../errors/index.js';
import { TaskQueries, TaskRunner } from '../tasks/index.js';
import type { ResponseDraft } from './response-store.js';

const RETRY_SECONDS = 5;

/** Who may still join the queue. */
export interface Admission {
  /** Counts the client's task in, or answers with the refusal: queue_full, server_shutting_down. */
  admit(draft: ResponseDraft): DomainError | null;
}

/**
 * Bounds the queue, in all and per client (429 queue_full). Once nothing is claimed any more, foreground work is
 * refused: the stop has failed what waited of it, and nobody would answer a later one.
 */
@Injectable()
export class ResponseAdmission {
  constructor(
    private readonly queries: TaskQueries,
    private readonly runner: TaskRunner,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** For one unit: counted inside it, so that creates at the same moment cannot all take the last place. */
  async open(tx: Tx): Promise<Admission> {
    const waiting = await this.queries.queuedByClient(tx);
    let total = [...waiting.values()].reduce((sum, count) => sum + count, 0);
    const { maxQueuedTasks, maxQueuedTasksPerClient } = this.config;
    return {
      admit: ({ clientId, body }) => {
        if (this.runner.isStopped && !body.background) return new ServiceStopping();
        const own = waiting.get(clientId) ?? 0;
        if (total >= maxQueuedTasks) return queueFull(`${maxQueuedTasks} tasks wait already.`);
        if (own >= maxQueuedTasksPerClient) return queueFull(`${maxQueuedTasksPerClient} tasks of yours wait already.`);
        total += 1;
        waiting.set(clientId, own + 1);
        return null;
      },
    };
  }
}

function queueFull(reason: string): DomainError {
  return new DomainError('queue_full', `${reason} Send the request again later.`, { retryAfterSeconds: RETRY_SECONDS });
}
