import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { hostOf, isPrivateHub, isPublicAddress } from './address-rules.js';
import { SourceInterrupted } from '../model-source.js';
import { hubLied } from './hub-errors.js';

export interface HubConnectionOptions {
  hub: URL;
  /** Asked anew for each request; null: none. */
  token: () => Promise<string | null>;
  userAgent: string;
  /** Longest wait for the next byte. */
  stallMs: number;
  /** Whether the hub may send us to this machine or its network; as its own address says, by default. */
  mayBePrivate?: () => Promise<boolean>;
}

const MOST_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

/**
 * GET requests to the hub and to where it sends us. Redirects are followed by hand, each judged before anything is sent:
 * no less secret than the hub, and not to an address of this machine or its network, which is looked at once the name is
 * resolved and before the connection is made (BL-34). The token goes to the hub's own origin and nowhere else.
 */
export class HubConnection {
  constructor(private readonly options: HubConnectionOptions) {}

  /** The answer's head, with its body to be read. Throws SourceInterrupted, and hub_answer_invalid for a bad redirect. */
  async get(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<IncomingMessage> {
    let at = url;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
      const answer = await this.send(at, headers, signal);
      if (!REDIRECTS.includes(answer.statusCode ?? 0)) return plain(answer);
      answer.destroy();
      at = await this.judged(answer.headers.location, at);
    }
    throw hubLied(`redirects more than ${MOST_REDIRECTS} times`);
  }

  /** The body piece by piece. Throws SourceInterrupted when it is cut off or stalls. */
  async *read(answer: IncomingMessage, signal: AbortSignal): AsyncGenerator<Buffer> {
    const pieces = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    try {
      for (;;) {
        const stalled = setTimeout(() => answer.destroy(this.stall()), this.options.stallMs);
        const piece = await pieces.next().finally(() => clearTimeout(stalled));
        if (piece.done === true) return;
        yield piece.value;
      }
    } catch (error) {
      throw interruption(error, signal);
    } finally {
      answer.destroy();
    }
  }

  private stall(): SourceInterrupted {
    return new SourceInterrupted(`nothing came for ${this.options.stallMs / 1000} s`);
  }

  private async send(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<IncomingMessage> {
    const isHub = url.origin === this.options.hub.origin;
    const token = isHub ? await this.options.token() : null;
    const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = open(url, {
      headers: {
        ...headers,
        'User-Agent': this.options.userAgent,
        'Accept-Encoding': 'identity',
        ...(token !== null && { Authorization: `Bearer ${token}` }),
      },
      // A connection of its own, so that none is used whose address was judged for another host.
      agent: false,
      signal,
      ...(!isHub && { lookup: lookupFor(await this.mayBePrivate()) }),
    });
    const stalled = setTimeout(() => request.destroy(this.stall()), this.options.stallMs);
    try {
      return await answerTo(request);
    } catch (error) {
      throw interruption(error, signal);
    } finally {
      clearTimeout(stalled);
    }
  }

  private async judged(location: string | undefined, from: URL): Promise<URL> {
    if (location === undefined || !URL.canParse(location, from)) throw hubLied('redirects to no address');
    const to = new URL(location, from);
    const { hub } = this.options;
    const isSafe = to.protocol === 'https:' || (to.protocol === 'http:' && hub.protocol === 'http:');
    if (!isSafe || to.username !== '' || to.password !== '')
      throw hubLied(`redirects to ${to.protocol} or with a name`);
    if (to.origin === hub.origin) return to;
    const host = hostOf(to);
    const isPrivate = host === 'localhost' || (isIP(host) !== 0 && !isPublicAddress(host));
    if (isPrivate && !(await this.mayBePrivate())) throw privateRedirect();
    return to;
  }

  private mayBePrivate(): Promise<boolean> {
    return this.options.mayBePrivate?.() ?? isPrivateHub(this.options.hub);
  }
}

/** A name may resolve to anything at any time: what counts is the address that is connected to. */
function lookupFor(mayBePrivate: boolean): LookupFunction {
  return (hostname, options, done) => {
    dnsLookup(hostname, { ...options, all: true }, (error, found: LookupAddress[] = []) => {
      const [first] = found;
      if (error !== null || first === undefined) return done(error ?? new Error('no address'), '');
      const isAllowed = mayBePrivate || found.every(({ address }) => isPublicAddress(address));
      if (!isAllowed) return done(privateRedirect(), '');
      if (options.all) done(null, found);
      else done(null, first.address, first.family);
    });
  };
}

function privateRedirect(): Error {
  return hubLied('redirects to an address of this machine or its network');
}

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
    request.end();
  });
}

function plain(answer: IncomingMessage): IncomingMessage {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return answer;
  answer.destroy();
  throw hubLied(`sends ${encoding} though only plain bytes were asked for`);
}

/** What a failure below HTTP means; a cancel stays a cancel, and a refusal of our own a refusal. */
function interruption(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof SourceInterrupted || (error as { kind?: unknown }).kind !== undefined) return error;
  return new SourceInterrupted(code === undefined ? 'the connection failed' : `the connection failed (${code})`);
}
