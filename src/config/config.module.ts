import { AsyncLocalStorage } from 'node:async_hooks';
import { Module } from '@nestjs/common';
import type { Config } from './config-table.js';
import { loadConfig } from './load-config.js';

/** Injection token of the settings: `@Inject(CONFIG) config: Config`. */
export const CONFIG = Symbol('Config');

const given = new AsyncLocalStorage<Config>();

/** Applications that `create` makes have these settings, and not those of the process. */
export function withConfig<T>(config: Config, create: () => T): T {
  return given.run(config, create);
}

/** Gives the settings of this process to whoever imports it; the only reader of `process.env`. */
@Module({
  providers: [{ provide: CONFIG, useFactory: () => given.getStore() ?? loadConfig() }],
  exports: [CONFIG],
})
export class ConfigModule {}
