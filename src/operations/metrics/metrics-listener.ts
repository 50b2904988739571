import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../config/index.js';
import { CallerPolicy, sendError } from '../../http/index.js';
import { Readiness } from '../readiness.js';
import { Metrics } from './metrics.js';

const LOOPBACK = '127.0.0.1';

/**
 * A second listener for scrapers that cannot send a token: /metrics, on loopback, and nothing else (OPERATE 3.2). Off
 * unless LMSP_METRICS_PORT names a port.
 */
@Injectable()
export class MetricsListener {
  private server: Server | null = null;
  private readonly policy: CallerPolicy;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly metrics: Metrics,
    private readonly readiness: Readiness,
  ) {
    this.policy = new CallerPolicy(config);
  }

  /** Rejects when the port is taken. */
  async open(): Promise<void> {
    if (this.config.metricsPort === 0) return;
    const server = createServer(
      { requireHostHeader: false },
      (request, response) => void this.answer(request, response),
    );
    server.listen(this.config.metricsPort, LOOPBACK);
    await once(server, 'listening');
    this.server = server;
  }

  close(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url } = request;
    const refusal = this.policy.refusal(request);
    if (refusal) return sendError(response, refusal);
    if (url !== '/metrics') return end(response, 404);
    if (method !== 'GET') return end(response, 405);
    // No old state is shown before recovery has ended (WIRE B6).
    if (!this.readiness.isRecovered) return end(response, 503);
    try {
      const text = await this.metrics.text();
      response.writeHead(200, { 'Content-Type': this.metrics.contentType }).end(text);
    } catch {
      end(response, 500);
    }
  }
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}
