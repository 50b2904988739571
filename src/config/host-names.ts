import { isIPv4, isIPv6 } from 'node:net';

const NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** The two parts of a Host header, in lower case and without brackets; null where it is none. */
export function parseHost(text: string): { name: string; port: number | null } | null {
  const { host, port } = /^(?<host>\[[^\]]*\]|[^:[\]]*)(:(?<port>\d{1,5}))?$/.exec(text.toLowerCase())?.groups ?? {};
  if (host === undefined) return null;
  const name = host.startsWith('[') ? host.slice(1, -1) : host;
  const known = host.startsWith('[') ? isIPv6(name) : name.length <= 253 && NAME.test(name);
  return known ? { name, port: port === undefined ? null : Number(port) } : null;
}

export function isHost(text: string): boolean {
  return parseHost(text) !== null;
}

/** As a browser sends it: scheme, host and perhaps a port, nothing behind. */
export function isOrigin(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/.test(text) && URL.canParse(text);
}

/** Whether only this machine can be meant by the name. */
export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}
