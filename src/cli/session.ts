import { Api } from './api.js';
import { UsageError } from './cli-errors.js';
import { parseWait } from './duration.js';
import { readEnvironment, type Environment } from './environment.js';
import type { TimeStyle } from './human-text.js';
import { Terminal, type ColorMode, type Format } from './terminal.js';

/** The options that every command has, as commander hands them over. */
export interface GlobalOptions {
  output?: Format;
  json?: boolean;
  quiet?: boolean;
  url?: string;
  tokenFile?: string;
  insecure?: boolean;
  timeout?: string;
  color?: ColorMode;
  time?: TimeStyle;
  yes?: boolean;
  verbose?: boolean;
}

/** What a command works with. */
export interface Session {
  readonly terminal: Terminal;
  readonly api: Api;
  readonly environment: Environment;
  readonly options: GlobalOptions;
}

/** Throws UsageError. */
export function openSession(options: GlobalOptions): Session {
  if (options.json === true && options.output !== undefined && options.output !== 'json') {
    throw new UsageError(`--json and -o ${options.output} exclude each other`);
  }
  const environment = readEnvironment();
  const terminal = new Terminal(
    {
      format: options.json === true ? 'json' : (options.output ?? 'table'),
      quiet: options.quiet ?? false,
      color: options.color ?? 'auto',
    },
    environment,
  );
  const api = new Api(
    {
      url: options.url ?? null,
      tokenFile: options.tokenFile ?? null,
      insecure: options.insecure ?? false,
      timeoutMs: options.timeout === undefined ? null : parseWait(options.timeout),
    },
    environment,
  );
  return { terminal, api, environment, options };
}
