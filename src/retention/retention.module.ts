import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { NoticesModule } from '../notices/index.js';
import { Clock } from './clock.js';
import { ExpiryClock } from './expiry-clock.js';

export interface RetentionModuleOptions {
  /** The module that gives UnitOfWork and StoreReader. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** What is kept for how long, and by which clock. */
@Module({})
export class RetentionModule {
  static register({ imports }: RetentionModuleOptions): DynamicModule {
    return {
      module: RetentionModule,
      imports: [NoticesModule, ...imports],
      providers: [Clock, ExpiryClock],
      exports: [ExpiryClock],
    };
  }
}
