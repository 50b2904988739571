import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../database/index.js';
import { Notices } from '../../notices/index.js';
import { TaskQueries, type Lane } from '../../tasks/index.js';

/**
 * How many tasks wait in each lane: counted once, then kept by notices, since to count a hundred thousand at each scrape
 * would hold up everybody's reads.
 */
@Injectable()
export class QueueTally {
  private counts: Map<string, Lane & { waiting: number }> | null = null;
  private counting: Promise<void> | null = null;

  constructor(
    private readonly units: UnitOfWork,
    private readonly queries: TaskQueries,
    private readonly notices: Notices,
  ) {}

  /** Lanes in which tasks wait. */
  async lanes(): Promise<(Lane & { waiting: number })[]> {
    this.counting ??= this.count().catch((error: unknown) => {
      this.counting = null;
      throw error;
    });
    await this.counting;
    return [...(this.counts?.values() ?? [])].filter(({ waiting }) => waiting > 0);
  }

  /** In a unit: what committed before is counted, and the notices of what commits after it come later. */
  private async count(): Promise<void> {
    await this.units.run(async (tx) => {
      const lanes = await this.queries.waitingByLane(tx);
      tx.afterCommit(() => {
        this.counts = new Map(lanes.map((lane) => [keyOf(lane), lane]));
        this.notices.on('task.transition', ({ type, model, from, to }) => {
          if (to === 'queued') this.add({ type, model }, 1);
          if (from === 'queued') this.add({ type, model }, -1);
        });
      });
    });
  }

  private add(lane: Lane, change: number): void {
    const known = this.counts?.get(keyOf(lane));
    if (known) known.waiting += change;
    else this.counts?.set(keyOf(lane), { ...lane, waiting: change });
  }
}

function keyOf({ type, model }: Lane): string {
  return JSON.stringify([type, model]);
}
