import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { ConfigModule } from '../config/index.js';
import { NoticesModule } from '../notices/index.js';
import { AccessRefusals } from './access-refusals.js';
import { Authentication } from './authentication.js';
import { ClientDirectory } from './client-directory.js';
import { ClientRegistry } from './client-registry.js';
import { ClientRevocation } from './client-revocation.js';
import { DeviceGrant } from './device-grant.js';
import { OwnerAccount } from './owner-account.js';
import { OwnerTokenFile } from './owner-token-file.js';
import { PairingRetention } from './pairing-retention.js';
import { Pairings } from './pairings.js';
import { PendingPairings } from './pending-pairings.js';
import { RouteAccesses } from './route-access.js';
import { ScopeGuard } from './scope.guard.js';
import { SubjectClients } from './subject-clients.js';
import { TokenRotation } from './token-rotation.js';

const published = [
  Authentication,
  ClientDirectory,
  ClientRegistry,
  ClientRevocation,
  DeviceGrant,
  Pairings,
  PendingPairings,
  AccessRefusals,
  RouteAccesses,
  TokenRotation,
];

export interface ClientsModuleOptions {
  /** The modules that give UnitOfWork and StoreReader, RetentionRules and Clock, and the audit module. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** Clients, their tokens and scopes, and the guard that stands before every route of the application. */
@Module({})
export class ClientsModule {
  static register({ imports }: ClientsModuleOptions): DynamicModule {
    return {
      module: ClientsModule,
      imports: [ConfigModule, DiscoveryModule, NoticesModule, ...imports],
      providers: [
        ...published,
        OwnerAccount,
        OwnerTokenFile,
        PairingRetention,
        SubjectClients,
        { provide: APP_GUARD, useClass: ScopeGuard },
      ],
      exports: published,
    };
  }
}
