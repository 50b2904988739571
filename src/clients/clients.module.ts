import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ConfigModule } from '../config/index.js';
import { NoticesModule } from '../notices/index.js';
import { ClientDirectory } from './client-directory.js';
import { OwnerAccount } from './owner-account.js';
import { ScopeGuard } from './scope.guard.js';

export interface ClientsModuleOptions {
  /** The module that gives UnitOfWork and StoreReader. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** Clients, their tokens and scopes, and the guard that stands before every route of the application. */
@Module({})
export class ClientsModule {
  static register({ imports }: ClientsModuleOptions): DynamicModule {
    return {
      module: ClientsModule,
      imports: [ConfigModule, NoticesModule, ...imports],
      providers: [ClientDirectory, OwnerAccount, { provide: APP_GUARD, useClass: ScopeGuard }],
      exports: [ClientDirectory],
    };
  }
}
