import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { loadConfig } from './config/index.js';
import { configureApp, edgeOptions } from './http/index.js';
import { logCrashes, logNotices, NestLog, Notices, openLog } from './notices/index.js';
import { complaintOf, exitCodeOf, StopSwitch, stopOnSignals } from './operations/index.js';
import { Service } from './service.js';

/** Starts the service in the foreground; ends on SIGTERM and SIGINT. Exit codes: src/operations/exit-codes.ts. */
async function main(): Promise<void> {
  const config = loadConfig();
  const log = openLog(config.logLevel);
  const exit = (code: number): never => {
    log.flush();
    process.exit(code);
  };
  const crash = logCrashes(log, process, exit);
  const app = await NestFactory.create<NestExpressApplication>(AppModule.register(), {
    ...edgeOptions(config),
    abortOnError: false,
    // Nest would log what makes a start fail a second time.
    logger: false,
  });
  app.useLogger(new NestLog(log.logger));
  logNotices(app.get(Notices), log.logger);
  const service = new Service(configureApp(app));
  const stop = stopOnSignals({ stop: (reason) => service.stop(reason), exit, crash, source: process });
  app.get(StopSwitch).connect(stop);
  await service.start();
}

main().catch((error: unknown) => {
  process.stderr.write(`lmsp: ${complaintOf(error)}\n`);
  process.exit(exitCodeOf(error));
});
