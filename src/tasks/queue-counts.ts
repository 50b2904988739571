import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/index.js';
import { Notices } from '../notices/index.js';
import { TaskQueries } from './task-queries.js';

/**
 * How many tasks of each client wait: counted once, then kept by notices. Every accept asks, and to count a hundred
 * thousand each time would hold up everybody's writes.
 */
@Injectable()
export class QueueCounts {
  private counts: Map<string, number> | null = null;

  constructor(
    private readonly queries: TaskQueries,
    private readonly notices: Notices,
  ) {}

  /** As the unit found them. The notices of a unit come before the next one begins, so no other has changed them. */
  async byClient(tx: Tx): Promise<Map<string, number>> {
    if (this.counts) return new Map(this.counts);
    const counts = await this.queries.queuedByClient(tx);
    tx.afterCommit(() => {
      this.counts = new Map(counts);
      this.notices.on('task.transition', ({ client_id: client, from, to }) => {
        if (to === 'queued') this.add(client, 1);
        if (from === 'queued') this.add(client, -1);
      });
    });
    return new Map(counts);
  }

  private add(client: string, change: number): void {
    const waiting = (this.counts?.get(client) ?? 0) + change;
    if (waiting > 0) this.counts?.set(client, waiting);
    else this.counts?.delete(client);
  }
}
