import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { isLoopback, parseHost, type Config } from '../config/index.js';
import { DomainError } from '../errors/index.js';

type CallerSettings = Pick<Config, 'host' | 'allowedHosts' | 'allowedOrigins'>;

/** Addresses that stand for "all of this machine's": no client calls a service by them but to get round a check. */
const WILDCARDS: readonly string[] = ['0.0.0.0', '::'];

/**
 * By which name the service may be called, and from which web pages (WIRE B0, CASES BL-36). A page whose name was made
 * to point at this machine (DNS rebinding) sends that name as Host; any other page sends its own as Origin.
 */
export class CallerPolicy {
  constructor(private readonly settings: CallerSettings) {}

  /** Why the request must not be looked at: host_not_allowed, origin_not_allowed; null: it may. */
  refusal(request: IncomingMessage): DomainError | null {
    if (!this.knowsHost(request)) {
      return new DomainError(
        'host_not_allowed',
        'This name is not served; the owner may add it to LMSP_ALLOWED_HOSTS.',
      );
    }
    if (!this.knowsOrigin(request)) {
      return new DomainError(
        'origin_not_allowed',
        'This page may not call; the owner may add it to LMSP_ALLOWED_ORIGINS.',
      );
    }
    return null;
  }

  private knowsHost({ url, rawHeaders, headers, socket }: IncomingMessage): boolean {
    // A whole URL in the request line names another host than the header does, and would win over it.
    const isPath = url?.startsWith('/') === true || url === '*';
    const sent = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
    const host = parseHost(headers.host ?? '');
    if (!isPath || sent !== 1 || host === null) return false;
    if (this.isListed(host)) return true;
    return this.isOwn(host.name, socket.localAddress) && (host.port ?? socket.localPort) === socket.localPort;
  }

  private isListed({ name, port }: { name: string; port: number | null }): boolean {
    return this.settings.allowedHosts.some((text) => {
      const allowed = parseHost(text);
      return allowed?.name === name && (allowed.port === null || allowed.port === port);
    });
  }

  /** An address cannot be rebound: the one that the connection was made to is as good as a loopback name. */
  private isOwn(name: string, localAddress: string | undefined): boolean {
    if (isLoopback(name) || name === localAddress?.replace(/^::ffff:/, '')) return true;
    return name === this.settings.host.toLowerCase() && !WILDCARDS.includes(name);
  }

  private knowsOrigin({ headers, socket }: IncomingMessage): boolean {
    const origin = headers.origin?.toLowerCase();
    if (origin === undefined || this.settings.allowedOrigins.includes(origin)) return true;
    const scheme = (socket as Partial<TLSSocket>).encrypted === true ? 'https' : 'http';
    return origin === `${scheme}://${headers.host?.toLowerCase()}`;
  }
}
