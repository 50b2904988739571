import { isIPv6 } from 'node:net';

const NETWORK_GROUPS = 4;

/** The address as a limit counts it: IPv6 by its /64, since one machine has that many addresses at will. */
export function limitedAddress(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '');
  return isIPv6(plain) ? `${groupsOf(plain).slice(0, NETWORK_GROUPS).join(':')}::/64` : plain;
}

/** The eight groups, written out. */
function groupsOf(address: string): string[] {
  // The URL parser writes every spelling of an address in one way.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last];
}
