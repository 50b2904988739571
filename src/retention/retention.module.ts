import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ConfigModule } from '../config/index.js';
import { NoticesModule } from '../notices/index.js';
import { Clock } from './clock.js';
import { ExpiryClock } from './expiry-clock.js';
import { FreePages } from './free-pages.js';
import { PacedUnits } from './paced-units.js';
import { RetentionReports } from './retention-report.js';
import { RetentionRules } from './retention-rules.js';
import { RetentionRunner } from './retention-runner.js';
import { RetentionSchedule } from './retention-schedule.js';
import { RetentionSweep } from './retention-sweep.js';

const published = [ExpiryClock, RetentionReports, RetentionRules, RetentionRunner, RetentionSchedule];

export interface RetentionModuleOptions {
  /** The module that gives UnitOfWork and StoreReader. */
  imports: NonNullable<ModuleMetadata['imports']>;
  /** In the place of those of the machine. */
  clock?: Clock;
}

/** What is kept for how long, and by which clock. Knows no table: each module registers the rules of its own. */
@Module({})
export class RetentionModule {
  static register({ imports, clock = new Clock() }: RetentionModuleOptions): DynamicModule {
    return {
      module: RetentionModule,
      imports: [ConfigModule, NoticesModule, ScheduleModule.forRoot(), ...imports],
      providers: [{ provide: Clock, useValue: clock }, ...published, FreePages, PacedUnits, RetentionSweep],
      exports: [Clock, ...published],
    };
  }
}
