import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule, type AppOptions } from './app.module.js';
import { withConfig, type Config } from './config/index.js';
import { configureApp, edgeOptions } from './http/index.js';

/**
 * The whole application with its store open, behind the edge, and not listening: hand it to `Service`. Rejects with what
 * keeps the service from starting: StartRefused, ConfigInvalid, StoreUnusable, DataDirectoryInUse.
 * @param config of this application, as loadConfig gave it
 */
export async function createApp(config: Config, options: AppOptions = {}): Promise<NestExpressApplication> {
  const nestOptions = {
    ...edgeOptions(config),
    abortOnError: false,
    // Nest would log what makes a start fail a second time.
    logger: false,
  } as const;
  const app = await withConfig(config, () =>
    NestFactory.create<NestExpressApplication>(AppModule.register(options), nestOptions),
  );
  return configureApp(app);
}
