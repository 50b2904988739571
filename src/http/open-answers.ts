import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestHandler, Response } from 'express';
import { currentRequestId, Notices } from '../notices/index.js';

/** Requests that are being answered: those of a client that is revoked are cut, streams and foreground work alike (WIRE B8). */
@Injectable()
export class OpenAnswers implements OnModuleInit {
  private readonly open = new Set<Response>();

  constructor(private readonly notices: Notices) {}

  onModuleInit(): void {
    this.notices.on('client.revoked', ({ client_id: id }) => this.cut(id));
  }

  middleware(): RequestHandler {
    return (_request, response, next) => {
      this.open.add(response);
      response.once('close', () => this.open.delete(response));
      next();
    };
  }

  /** All but the request that revokes, which may be the client's own. */
  private cut(clientId: string): void {
    for (const response of this.open) {
      const { clientId: sender } = response.req as { clientId?: string };
      if (sender === clientId && response.getHeader('X-Request-Id') !== currentRequestId()) response.destroy();
    }
  }
}
