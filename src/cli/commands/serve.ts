import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { environmentWith } from '../environment.js';
import { EXIT } from '../exit-codes.js';
import type { Session } from '../session.js';

export interface ServeOptions {
  host?: string;
  port?: string;
  dataDir?: string;
  logLevel?: string;
}

const VARIABLES: Readonly<Record<keyof ServeOptions, string>> = {
  host: 'LMSP_HOST',
  port: 'LMSP_PORT',
  dataDir: 'LMSP_DATA_DIR',
  logLevel: 'LMSP_LOG_LEVEL',
};

/** A signal's exit code begins here, by the custom of shells. */
const SIGNALLED = 128;

/**
 * `lmsp serve`: the service, in the foreground, with its own exit codes. It is a process of its own: the size of its
 * thread pool must stand in its environment before it starts.
 */
export function serve(_session: Session, options: ServeOptions): Promise<number> {
  const settings = Object.entries(VARIABLES).flatMap(([name, variable]) => {
    const value = options[name as keyof ServeOptions];
    return value === undefined ? [] : [[variable, value] as const];
  });
  const entry = fileURLToPath(new URL('../../main.js', import.meta.url));
  const service = spawn(process.execPath, ['--enable-source-maps', entry], {
    env: environmentWith(Object.fromEntries(settings)),
    stdio: 'inherit',
  });
  // The terminal signals both; the service takes two in a second for one. This process waits for its end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => service.kill(signal));
  return new Promise((resolve) => {
    service.once('error', () => resolve(EXIT.failed));
    service.once('exit', (code, signal) => resolve(code ?? SIGNALLED + (signal === 'SIGKILL' ? 9 : 0)));
  });
}
