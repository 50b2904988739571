import { bearerFor, noTokenHint, type BearerOptions } from './bearer.js';
import { ApiError, CliError, ConnectionLost, NoService, TimeLimit, UsageError } from './cli-errors.js';
import type { Environment } from './environment.js';
import { EXIT } from './exit-codes.js';
import { findService, type Target } from './service-address.js';
import { oneLine } from './terminal-text.js';

/** One server-sent event; `data` is its JSON as it came. */
export interface ServerEvent {
  type: string;
  data: string;
}

export interface ApiOptions extends BearerOptions {
  /** --url. */
  url: string | null;
  /** --timeout: the whole command ends after this time. */
  timeoutMs: number | null;
}

export interface Request {
  body?: unknown;
  /** The answer comes when work is done: no limit but `--timeout`. */
  isLong?: boolean;
  signal?: AbortSignal;
}

/** An answer that takes longer is given up. */
const ANSWER_MS = 30_000;

/** The service over HTTP. Each request looks for its address and token anew. */
export class Api {
  private readonly deadline: AbortSignal | null;
  private reachedOwn = false;

  constructor(
    private readonly options: ApiOptions,
    private readonly environment: Environment,
  ) {
    this.deadline = options.timeoutMs === null ? null : AbortSignal.timeout(options.timeoutMs);
  }

  /**
   * Where the next request goes. Throws UsageError, and NoService while the service of the data directory, once it was
   * reached, is away: whatever listens at the default port meanwhile is another one.
   */
  target(): Target {
    const target = findService(this.options.url, this.environment);
    if (this.reachedOwn && !target.isOwn) throw new NoService(target.url);
    return target;
  }

  /** Throws TimeLimit once the command has used up its `--timeout`. */
  checkDeadline(): void {
    if (this.deadline?.aborted) throw new TimeLimit('the time of --timeout is over');
  }

  /** Resolves after a pause. Throws TimeLimit. */
  async pause(milliseconds: number): Promise<void> {
    const { setTimeout: delay } = await import('node:timers/promises');
    await delay(milliseconds, undefined, this.deadline ? { signal: this.deadline } : {}).catch(() => undefined);
    this.checkDeadline();
  }

  /** Throws ApiError on a status of 400 or more. */
  async json<T>(method: string, path: string, request: Request = {}): Promise<T> {
    return JSON.parse(await this.read(method, path, request)) as T;
  }

  async read(method: string, path: string, request: Request = {}): Promise<string> {
    const signal = this.signalOf(request, request.isLong === true ? null : AbortSignal.timeout(ANSWER_MS));
    const response = await this.send(method, path, request, signal, 'application/json');
    return this.bodyOf(response, signal);
  }

  /** A readiness probe: status and body, whatever the status. */
  async probe<T>(path: string): Promise<{ status: number; body: T }> {
    const signal = this.signalOf({}, AbortSignal.timeout(ANSWER_MS));
    const response = await this.fetch(this.target().url + path, { signal }, signal);
    return { status: response.status, body: JSON.parse(await this.bodyOf(response, signal)) as T };
  }

  /** The events of an answer as they come; null when there will never be more (204). Throws ConnectionLost when cut. */
  async events(method: string, path: string, request: Request = {}): Promise<AsyncIterable<ServerEvent> | null> {
    const signal = this.signalOf(request, null);
    const response = await this.send(method, path, request, signal, 'text/event-stream');
    return response.status === 204 || response.body === null ? null : this.parse(response.body, signal);
  }

  private async *parse(body: ReadableStream<Uint8Array>, signal: AbortSignal | null): AsyncGenerator<ServerEvent> {
    const { EventSourceParserStream } = await import('eventsource-parser/stream');
    const decoder = new TextDecoderStream() as TransformStream<Uint8Array, string>;
    try {
      for await (const { event, data } of body.pipeThrough(decoder).pipeThrough(new EventSourceParserStream())) {
        if (data !== '[DONE]') yield { type: event ?? 'message', data };
      }
    } catch (error) {
      throw this.broken(error, signal);
    }
  }

  private async send(
    method: string,
    path: string,
    { body }: Request,
    signal: AbortSignal | null,
    accept: string,
  ): Promise<Response> {
    const target = this.target();
    const bearer = bearerFor(target, this.options, this.environment);
    const headers: Record<string, string> = { Accept: accept };
    if (bearer !== null) headers['Authorization'] = `Bearer ${bearer}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const init = { method, headers, signal, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await this.fetch(target.url + path, init, signal);
    this.reachedOwn ||= target.isOwn;
    if (response.status < 400) return response;
    if (response.status === 401 && bearer === null)
      throw new CliError(EXIT.denied, noTokenHint(target, this.environment));
    throw await errorOf(response);
  }

  /** A redirect is refused: a token goes nowhere but to the address that was asked for. */
  private async fetch(url: string, init: RequestInit, signal: AbortSignal | null): Promise<Response> {
    try {
      return await fetch(url, { ...init, redirect: 'error' });
    } catch (error) {
      if (isForbiddenPort(error)) throw new UsageError(`${new URL(url).origin}: Node.js connects to no such port`);
      if (isDistrust(error)) {
        const origin = new URL(url).origin;
        throw new CliError(
          EXIT.failed,
          `the certificate of ${origin} is not trusted (${causeCode(error)}); NODE_EXTRA_CA_CERTS names a file with its authority`,
        );
      }
      const lost = this.broken(error, signal);
      throw lost instanceof ConnectionLost && isConnectFailure(error) ? new NoService(new URL(url).origin) : lost;
    }
  }

  private async bodyOf(response: Response, signal: AbortSignal | null): Promise<string> {
    try {
      return await response.text();
    } catch (error) {
      throw this.broken(error, signal);
    }
  }

  private signalOf({ signal }: Request, limit: AbortSignal | null): AbortSignal | null {
    const signals = [signal, limit, this.deadline].filter((each) => each != null);
    return signals.length === 0 ? null : AbortSignal.any(signals);
  }

  /** What a failure below HTTP means. */
  private broken(error: unknown, signal: AbortSignal | null): CliError {
    if (error instanceof CliError) return error;
    if (this.deadline?.aborted) return new TimeLimit('the time of --timeout is over');
    if (signal?.aborted && isTimeout(signal.reason)) return new TimeLimit(`no answer within ${ANSWER_MS / 1000} s`);
    if (causeCode(error) === 'UND_ERR_HEADERS_TIMEOUT')
      return new TimeLimit('no answer within 5 minutes; the work may go on');
    return new ConnectionLost();
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}

function causeCode(error: unknown): string {
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  return typeof cause?.code === 'string' ? cause.code : '';
}

function isDistrust(error: unknown): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/.test(causeCode(error));
}

/** The standard of fetch keeps it from ports of other protocols, such as 6000. */
function isForbiddenPort(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && error.cause.message === 'bad port';
}

/** The connection never came to be, so no request was sent. */
function isConnectFailure(error: unknown): boolean {
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/.test(
    causeCode(error),
  );
}

/** The error object of WIRE B9, or what a stranger answered instead. */
async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as { error: { message: string; code: string | null } };
    return new ApiError(response.status, error.code, oneLine(error.message));
  } catch {
    return new ApiError(response.status, null, `the service answered ${response.status}: is it an LMSP service?`);
  }
}
