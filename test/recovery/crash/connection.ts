import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { ServiceProcess } from '../../support/service-process.js';

/** What came back before the connection ended. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** False: the connection broke before the end. */
  whole: boolean;
}

export interface SendOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** The request has left this process. */
  onSent?: () => void;
  /** The head has arrived, and nothing has been done with it yet. */
  onHead?: (status: number, headers: IncomingHttpHeaders) => void;
  /** Takes the body as it comes; `Answer.body` stays empty then. */
  onText?: (text: string) => void;
}

const SOCKETS = 64;

/** A client's connections to one service process: raw, so that the moment of each byte is known. */
export class Connection {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: SOCKETS });

  constructor(private readonly service: Pick<ServiceProcess, 'url' | 'token'>) {}

  /** Resolves with what came; null: not even a head. Never rejects: a service under fire breaks connections. */
  send(method: string, path: string, options: SendOptions = {}): Promise<Answer | null> {
    const payload = options.body === undefined ? '' : JSON.stringify(options.body);
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.service.token}`,
      ...(payload && { 'content-type': 'application/json' }),
      'content-length': String(Buffer.byteLength(payload)),
      ...options.headers,
    };
    return new Promise((resolve) => {
      const sent = request(`${this.service.url}${path}`, { method, headers, agent: this.agent }, (response) => {
        options.onHead?.(response.statusCode ?? 0, response.headers);
        void read(response, options.onText).then(resolve);
      });
      sent.on('error', () => resolve(null));
      sent.on('finish', () => options.onSent?.());
      sent.end(payload);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

function read(response: IncomingMessage, onText?: (text: string) => void): Promise<Answer> {
  return new Promise((resolve) => {
    let body = '';
    const end = (whole: boolean): void =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body, whole });
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      if (onText) onText(text);
      else body += text;
    });
    response.on('end', () => end(response.complete));
    response.on('error', () => end(false));
    response.on('close', () => end(false));
  });
}
