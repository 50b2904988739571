import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from './cli-errors.js';
import type { Environment } from './environment.js';

/** Where requests go. */
export interface Target {
  /** Without a slash at its end. */
  url: string;
  /** It is the running service of the local data directory: the owner's token may go there. */
  isOwn: boolean;
}

/** The part of service.json that counts here. */
interface RunningService {
  url: string;
  pid: number;
}

/**
 * The address: `--url`, LMSP_URL, `service.json` of the data directory, the default port (OPERATE 1.2). Read anew for each
 * connection, since a service that is started again may listen elsewhere. Throws UsageError.
 */
export function findService(given: string | null, environment: Environment): Target {
  const own = runningService(environment.dataDir);
  const named = given ?? environment.url;
  if (named !== null) return targetOf(parseAddress(named), own);
  if (own !== null) return { url: own, isOwn: true };
  return { url: `http://127.0.0.1:${environment.port}`, isOwn: false };
}

/** A name that leads to the own service becomes its own address; any other is foreign. */
function targetOf(url: URL, own: string | null): Target {
  if (own !== null && isSamePlace(url, new URL(own))) return { url: own, isOwn: true };
  return { url: url.href.replace(/\/+$/, '').replace(/\/v1$/, ''), isOwn: false };
}

function isSamePlace(a: URL, b: URL): boolean {
  if (a.protocol !== b.protocol || a.port !== b.port || a.pathname.replace(/^\/v1\/?$/, '/') !== '/') return false;
  return a.hostname === b.hostname || (isLoopback(a.hostname) && isLoopback(b.hostname));
}

/** Host of a URL, IPv6 in brackets. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError('--url, LMSP_URL: expected http(s)://host:port');
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--url, LMSP_URL: a URL holds no credentials; use --token-file or LMSP_TOKEN');
  }
  url.search = '';
  url.hash = '';
  return url;
}

/**
 * Address of the service that runs on the data directory; null if none does. After a crash a stale file is left, and
 * its port may be another program's by then: the process must be alive.
 */
function runningService(dataDir: string): string | null {
  try {
    const { url, pid } = JSON.parse(readFileSync(join(dataDir, 'service.json'), 'utf8')) as RunningService;
    if (!isAlive(pid)) return null;
    // An address that means "all of them" is listened on, not talked to.
    return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
