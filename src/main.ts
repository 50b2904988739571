import 'reflect-metadata';
import { loadConfig } from './config/index.js';
import { createApp } from './create-app.js';
import { declaredBy, loadExtensions } from './extensions/index.js';
import { logCrashes, logNotices, NestLog, Notices, openLog } from './notices/index.js';
import { boundHeapGrowth, complaintOf, exitCodeOf, StopSwitch, stopOnSignals } from './operations/index.js';
import { Service } from './service.js';

/** Starts the service in the foreground; ends on SIGTERM and SIGINT. Exit codes: src/operations/exit-codes.ts. */
async function main(): Promise<void> {
  boundHeapGrowth();
  const config = loadConfig();
  const log = openLog(config.logLevel);
  const exit = (code: number): never => {
    log.flush();
    process.exit(code);
  };
  const crash = logCrashes(log, process, exit);
  const extensions = await loadExtensions(config);
  loadConfig(undefined, declaredBy(extensions));
  const app = await createApp(config, { extensions });
  app.useLogger(new NestLog(log.logger));
  logNotices(app.get(Notices), log.logger);
  const service = new Service(app);
  const stop = stopOnSignals({ stop: (reason) => service.stop(reason), exit, crash, source: process });
  app.get(StopSwitch).connect(stop);
  await service.start();
}

main().catch((error: unknown) => {
  process.stderr.write(`lmsp: ${complaintOf(error)}\n`);
  process.exit(exitCodeOf(error));
});
