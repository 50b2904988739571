import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv4 } from 'node:net';

/** Addresses that belong to this machine, to its network or to nobody (RFC 6890). */
const NOT_PUBLIC = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  NOT_PUBLIC.addSubnet(network, bits, 'ipv4');
}
/** In IPv6 only global unicast is public, and not what wraps an IPv4 address or is for documents. */
const GLOBAL = new BlockList();
GLOBAL.addSubnet('2000::', 3, 'ipv6');
const NOT_GLOBAL = new BlockList();
NOT_GLOBAL.addSubnet('2001::', 23, 'ipv6');
NOT_GLOBAL.addSubnet('2001:db8::', 32, 'ipv6');
NOT_GLOBAL.addSubnet('2002::', 16, 'ipv6');

/** Whether everybody on the internet means the same machine by the address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !NOT_PUBLIC.check(address, 'ipv4');
  return isIP(address) === 6 && GLOBAL.check(address, 'ipv6') && !NOT_GLOBAL.check(address, 'ipv6');
}

/** Host of a URL without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Whether the hub itself lies on this machine or its network: only then it may send a pull there (BL-34). */
export async function isPrivateHub(hub: URL): Promise<boolean> {
  const host = hostOf(hub);
  if (isIP(host) !== 0) return !isPublicAddress(host);
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.length > 0 && found.every(({ address }) => !isPublicAddress(address));
}
