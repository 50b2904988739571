import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import type { Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { QueueCounts } from './queue-counts.js';

const RETRY_SECONDS = 5;

/** Decides in order, each knowing those before it: a client's next task is counted in, or refused with queue_full. */
export type QueuePlaces = (clientId: string) => DomainError | null;

/** How many tasks may wait, in all and of one client. */
@Injectable()
export class QueueLimits {
  constructor(
    private readonly counts: QueueCounts,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** For one unit: counted inside it, so that creates at the same moment cannot all be the last. */
  async open(tx: Tx): Promise<QueuePlaces> {
    const waiting = await this.counts.byClient(tx);
    let total = [...waiting.values()].reduce((sum, count) => sum + count, 0);
    const { maxQueuedTasks, maxQueuedTasksPerClient } = this.config;
    return (clientId) => {
      const own = waiting.get(clientId) ?? 0;
      if (total >= maxQueuedTasks) return queueFull(`${maxQueuedTasks} tasks wait already.`);
      if (own >= maxQueuedTasksPerClient) return queueFull(`${maxQueuedTasksPerClient} tasks of yours wait already.`);
      total += 1;
      waiting.set(clientId, own + 1);
      return null;
    };
  }
}

function queueFull(reason: string): DomainError {
  return new DomainError('queue_full', `${reason} Send the request again later.`, { retryAfterSeconds: RETRY_SECONDS });
}
