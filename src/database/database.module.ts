import { Module, type DynamicModule } from '@nestjs/common';
import { CONFIG, ConfigModule, type Config } from '../config/index.js';
import { openStore, Store, type StoreOptions } from './store.js';
import { StoreReader } from './store-reader.js';
import { UnitOfWork } from './unit-of-work.js';

export type StoreSchema = Pick<StoreOptions, 'entities' | 'migrations' | 'extensionMigrations'>;

/**
 * The open store as providers. Modules that use it import the very object that `register` gave, so that there is one
 * store; `Store.close()` is called by the shutdown sequence, not by a hook, since it must come last.
 */
@Module({})
export class DatabaseModule {
  static register(schema: StoreSchema): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [ConfigModule],
      providers: [
        { provide: Store, inject: [CONFIG], useFactory: (config: Config) => openConfigured(config, schema) },
        { provide: UnitOfWork, inject: [Store], useFactory: (store: Store) => store.units },
        { provide: StoreReader, inject: [Store], useFactory: (store: Store) => store.reader },
      ],
      exports: [Store, UnitOfWork, StoreReader],
    };
  }
}

function openConfigured(config: Config, schema: StoreSchema): Promise<Store> {
  const { dataDir, busyTimeoutMs, unitTimeoutSeconds, ballastBytes } = config;
  return openStore({ dataDir, busyTimeoutMs, unitTimeoutSeconds, ballastBytes, ...schema });
}
