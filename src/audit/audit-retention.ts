import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { RetentionRules, TimedRows } from '../retention/index.js';

/** The record goes by a period of its own, whatever becomes of what it tells of. */
@Injectable()
export class AuditRetention extends TimedRows implements OnModuleInit {
  readonly kind = 'audit';
  readonly countsFrom = 'at';
  readonly keepSeconds: number;
  protected readonly table = { name: 'audit_events', key: 'position', rowBytes: 300 };

  constructor(
    private readonly rules: RetentionRules,
    @Inject(CONFIG) config: Config,
  ) {
    super();
    this.keepSeconds = config.retentionAuditSeconds;
  }

  onModuleInit(): void {
    this.rules.register(this);
  }
}
