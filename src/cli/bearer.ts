import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from './cli-errors.js';
import type { Environment } from './environment.js';
import { isLoopback, type Target } from './service-address.js';

export interface BearerOptions {
  /** --token-file. */
  tokenFile: string | null;
  /** --insecure: a token may go unencrypted to another machine. */
  insecure: boolean;
}

/**
 * The token for a target: `--token-file`, LMSP_TOKEN, the owner's token file (OPERATE 1.2). The owner's goes to the
 * service of its own data directory only. Null: none may be sent. Throws UsageError.
 */
export function bearerFor(target: Target, options: BearerOptions, environment: Environment): string | null {
  const token = namedToken(options, environment) ?? (target.isOwn ? ownerToken(environment.dataDir) : null);
  if (token === null) return null;
  const { protocol, hostname } = new URL(target.url);
  if (protocol === 'http:' && !target.isOwn && !isLoopback(hostname) && !options.insecure) {
    throw new UsageError(
      `a token is not sent over http to ${hostname}: anybody on the way could read it (--insecure does)`,
    );
  }
  return token;
}

/** What to say when the service wants a token and none was sent. */
export function noTokenHint(target: Target, environment: Environment): string {
  return target.isOwn
    ? `${join(environment.dataDir, 'owner-token')} cannot be read; name a token with --token-file or LMSP_TOKEN`
    : `${target.url} is not the service of ${environment.dataDir}, so its owner's token was not sent; ` +
        'name one with --token-file or LMSP_TOKEN';
}

function namedToken({ tokenFile }: BearerOptions, { token }: Environment): string | null {
  if (tokenFile === null) return token === null ? null : checked(token, 'LMSP_TOKEN');
  try {
    return checked(readFileSync(tokenFile, 'utf8').trim(), tokenFile);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `--token-file: ${tokenFile} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
    );
  }
}

function ownerToken(dataDir: string): string | null {
  try {
    return checked(readFileSync(join(dataDir, 'owner-token'), 'utf8').trim(), 'owner-token');
  } catch {
    return null;
  }
}

/** What is no header value would be quoted in the complaint about it. */
function checked(token: string, source: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError(`${source}: holds no token`);
  return token;
}
