import { errorFields } from './error-fields.js';
import type { ServiceLog } from './logger.js';

/** Where crashes are heard: `process`, or an emitter in tests. */
interface CrashSource {
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
}

/**
 * An error that nobody caught ends the process: one fatal line with its cause, written out before the end, then
 * `exit(1)`. Recovery at the next start does the rest (OPERATE 4). Returns the same end for an error that was caught
 * but leaves nothing to go on with.
 */
export function logCrashes(
  log: ServiceLog,
  source: CrashSource,
  exit: (code: number) => void,
): (error: unknown) => void {
  const crash = (error: unknown): void => {
    try {
      log.logger.fatal({ error: errorFields(error) }, 'service crashed');
      log.flush();
    } finally {
      exit(1);
    }
  };
  source.on('uncaughtException', crash);
  source.on('unhandledRejection', crash);
  return crash;
}
