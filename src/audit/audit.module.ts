import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { AuditLog } from './audit-log.js';
import { AuditRetention } from './audit-retention.js';
import { AuditTrail } from './audit-trail.js';
import { CoalescedAudit } from './coalesced-audit.js';

export interface AuditModuleOptions {
  /** The modules that give UnitOfWork and StoreReader, RetentionRules and the clocks. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** Who did what to the service. */
@Module({})
export class AuditModule {
  static register({ imports }: AuditModuleOptions): DynamicModule {
    return {
      module: AuditModule,
      imports: [ConfigModule, ...imports],
      providers: [AuditLog, AuditTrail, AuditRetention, CoalescedAudit],
      exports: [AuditLog, AuditTrail, CoalescedAudit],
    };
  }
}
