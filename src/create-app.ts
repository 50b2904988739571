import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule, type AppOptions } from './app.module.js';
import type { Config } from './config/index.js';
import { configureApp, edgeOptions } from './http/index.js';

/**
 * The whole application with its store open, behind the edge, and not listening: hand it to `Service`. Rejects with what
 * keeps the service from starting: StartRefused, ConfigInvalid, StoreUnusable, DataDirectoryInUse.
 * @param config that of the process, as loadConfig gave it
 */
export async function createApp(config: Config, options: AppOptions = {}): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.register(options), {
    ...edgeOptions(config),
    abortOnError: false,
    // Nest would log what makes a start fail a second time.
    logger: false,
  });
  return configureApp(app);
}
