import { Module } from '@nestjs/common';
import { loadConfig } from './load-config.js';

/** Injection token of the settings: `@Inject(CONFIG) config: Config`. */
export const CONFIG = Symbol('Config');

/** Gives the settings of this process to whoever imports it; the only reader of `process.env`. */
@Module({
  providers: [{ provide: CONFIG, useFactory: () => loadConfig() }],
  exports: [CONFIG],
})
export class ConfigModule {}
