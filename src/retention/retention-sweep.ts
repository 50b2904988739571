import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { Notices } from '../notices/index.js';
import { FreePages } from './free-pages.js';
import { PacedUnits } from './paced-units.js';
import type { RetentionBatch, RetentionRule } from './retention-rule.js';
import { RetentionRules } from './retention-rules.js';
import type { KindOutcome } from './retention-run.js';

/** A batch that holds the writer longer makes the next one half as large: on a slow disk nobody waits longer either. */
const LONG_BATCH_MS = 50;
const LEAST_BATCH = 50;

/** The units of one run: every rule in turn, then the space that became free. */
@Injectable()
export class RetentionSweep {
  constructor(
    private readonly rules: RetentionRules,
    private readonly units: PacedUnits,
    private readonly pages: FreePages,
    private readonly notices: Notices,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** A rule that fails is told, and holds up no other. */
  async remove(now: number): Promise<KindOutcome[]> {
    const outcomes: KindOutcome[] = [];
    for (const rule of this.rules.all()) {
      const outcome: KindOutcome = { kind: rule.kind, removed: 0, rows: 0, batches: 0, failed: false };
      outcomes.push(outcome);
      try {
        await this.apply(rule, now, outcome);
      } catch (error) {
        outcome.failed = true;
        this.notices.emit('retention.failed', { kind: rule.kind, error });
      }
    }
    return outcomes;
  }

  /** Pages given back to the disk. */
  async releasePages(): Promise<number> {
    let released = 0;
    while (!this.units.isStopped) {
      const { value } = await this.units.run((tx) => this.pages.release(tx));
      if (value <= 0) break;
      released += value;
    }
    return released;
  }

  private async apply(rule: RetentionRule, now: number, outcome: KindOutcome): Promise<void> {
    const batch: RetentionBatch = { now, limit: this.config.retentionBatchEvents, cursor: null };
    while (!this.units.isStopped) {
      const { value, tookMs } = await this.units.run((tx) => rule.step(tx, { ...batch }));
      outcome.removed += value.removed;
      outcome.rows += value.rows;
      outcome.batches += 1;
      if (value.next === null) return;
      if (value.rows === 0 && value.next === batch.cursor)
        throw new Error(`retention of ${rule.kind} comes no further`);
      batch.cursor = value.next;
      batch.limit = this.nextLimit(batch.limit, tookMs);
    }
  }

  private nextLimit(limit: number, tookMs: number): number {
    const largest = this.config.retentionBatchEvents;
    return Math.min(largest, tookMs > LONG_BATCH_MS ? Math.max(LEAST_BATCH, limit >> 1) : limit * 2);
  }
}
