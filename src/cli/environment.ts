import { isAbsolute, normalize } from 'node:path';
import envPaths from 'env-paths';
import { UsageError } from './cli-errors.js';

/** What the command line takes from its environment. */
export interface Environment {
  dataDir: string;
  /** LMSP_URL. */
  url: string | null;
  /** LMSP_TOKEN. */
  token: string | null;
  /** Where a service that left no service.json would listen. */
  port: number;
  noColor: boolean;
  forceColor: boolean;
}

const DEFAULT_PORT = 5677;

/**
 * Reads the process's environment. The only place of the command line that does: the whole of `src/config` takes longer
 * to load than a command may take to start. Throws UsageError.
 */
export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const value = (name: string): string | null => env[name]?.trim() || null;
  const dataDir = value('LMSP_DATA_DIR') ?? envPaths('lmsp', { suffix: '' }).data;
  if (!isAbsolute(dataDir)) throw new UsageError('LMSP_DATA_DIR: expected an absolute path');
  const force = value('FORCE_COLOR');
  return {
    dataDir: normalize(dataDir),
    url: value('LMSP_URL'),
    token: value('LMSP_TOKEN'),
    port: Number(value('LMSP_PORT') ?? 0) || DEFAULT_PORT,
    noColor: value('NO_COLOR') !== null || (env['TERM'] === 'dumb' && force === null),
    forceColor: force !== null && force !== '0' && force !== 'false',
  };
}

/** The environment of a service that is started with these settings. */
export function environmentWith(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { UV_THREADPOOL_SIZE: '8', MALLOC_ARENA_MAX: '1', ...process.env, ...settings };
}
