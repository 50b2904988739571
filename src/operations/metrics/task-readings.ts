import { Injectable } from '@nestjs/common';
import { TaskQueries, type HeldStatus } from '../../tasks/index.js';
import { QueueTally } from './queue-tally.js';

export interface TaskReading {
  byStatus: Record<'queued' | HeldStatus, number>;
  /** Of each model for which tasks wait: milliseconds since the accept of the one that stands first. */
  oldest: { model: string | null; ageMs: number }[];
}

@Injectable()
export class TaskReadings {
  constructor(
    private readonly queries: TaskQueries,
    private readonly tally: QueueTally,
  ) {}

  async take(): Promise<TaskReading> {
    const lanes = await this.tally.lanes();
    const [held, firsts] = await Promise.all([this.queries.heldByStatus(), this.queries.firstInLanes(lanes)]);
    const now = Date.now();
    const ages = new Map<string | null, number>();
    for (const { model, acceptedAt } of firsts) {
      ages.set(model, Math.max(0, ages.get(model) ?? 0, now - acceptedAt));
    }
    return {
      byStatus: { queued: lanes.reduce((sum, { waiting }) => sum + waiting, 0), ...held },
      oldest: [...ages].map(([model, ageMs]) => ({ model, ageMs })),
    };
  }
}
