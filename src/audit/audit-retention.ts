import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { RetentionRules, TimedRows } from '../retention/index.js';

/** The record goes by a period of its own, whatever becomes of what it tells of. */
@Injectable()
export class AuditRetention extends TimedRows {
  readonly kind = 'audit';
  readonly countsFrom = 'at';
  readonly keepSeconds: number;
  protected readonly table = { name: 'audit_events', key: 'position', rowBytes: 300 };

  constructor(rules: RetentionRules, @Inject(CONFIG) config: Config) {
    super(rules);
    this.keepSeconds = config.retentionAuditSeconds;
  }
}
