import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from './notice-log-table.js';

/** Lines wait here while nobody reads standard output; beyond it they are dropped: a stuck reader must not stop the service. */
const MOST_WAITING_BYTES = 8 * 1024 * 1024;

/** Second fence behind the allow-list of the table; a leading `*` alone would miss the top level. */
const SECRETS = ['authorization', 'cookie', 'token', '*.authorization', '*.cookie', '*.token'];

/** The log of the process and the way to write out what still waits, before an exit. */
export interface ServiceLog {
  readonly logger: Logger;
  flush(): void;
}

/** JSON lines on standard output: ISO time, level as a word, constant message, ids as fields (OPERATE 4). */
export function openLog(level: LogLevel): ServiceLog {
  const stream = destination({ dest: 1, sync: false, maxLength: MOST_WAITING_BYTES });
  return { logger: createLogger(level, stream), flush: () => stream.flushSync() };
}

/** The same lines into a given stream. */
export function createLogger(level: LogLevel, stream: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRETS, censor: '[secret]' },
    },
    stream,
  );
}
