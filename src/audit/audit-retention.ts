import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import type { StoreReader, Tx } from '../database/index.js';
import {
  expiredBefore,
  RetentionRules,
  type RetentionBatch,
  type RetentionRule,
  type RetentionStep,
  type RetentionSurvey,
} from '../retention/index.js';

const ROW_BYTES = 300;

/** The record goes by a period of its own, whatever becomes of what it tells of. */
@Injectable()
export class AuditRetention implements RetentionRule, OnModuleInit {
  readonly kind = 'audit';
  readonly countsFrom = 'at';

  constructor(
    private readonly rules: RetentionRules,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.rules.register(this);
  }

  get keepSeconds(): number {
    return this.config.retentionAuditSeconds;
  }

  async step(tx: Tx, { now, limit }: RetentionBatch): Promise<RetentionStep> {
    const { affected } = await tx.execute(
      'DELETE FROM audit_events WHERE position IN (SELECT position FROM audit_events WHERE at <= ? ORDER BY at LIMIT ?)',
      [expiredBefore(now, this.keepSeconds), limit],
    );
    return { removed: affected, rows: affected, next: affected === limit ? 'more' : null };
  }

  async survey(reader: StoreReader, now: number): Promise<RetentionSurvey> {
    const figure = async (sql: string, ...parameters: unknown[]): Promise<number | null> =>
      (await reader.query<{ figure: number | null }>(sql, parameters))[0]?.figure ?? null;
    const rows = (await figure('select count(*) as figure from audit_events')) ?? 0;
    const before = expiredBefore(now, this.keepSeconds);
    return {
      rows,
      oldestAt: await figure('select min(at) as figure from audit_events'),
      due: (await figure('select count(*) as figure from audit_events where at <= ?', before)) ?? 0,
      blocked: [],
      bytes: rows * ROW_BYTES,
    };
  }
}
