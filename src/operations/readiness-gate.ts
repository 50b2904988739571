import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { DomainError, ServiceStopping } from '../errors/index.js';
import { Readiness } from './readiness.js';

const PROBES: readonly string[] = ['/health', '/ready'];
const RETRY_AFTER_SECONDS = 1;

/**
 * Answers for every route but the probes while the service cannot: 503 service_recovering until recovery has ended
 * (WIRE B6), 503 server_shutting_down once it stops. A middleware, so that unknown routes and bodies are refused too.
 */
@Injectable()
export class ReadinessGate implements NestMiddleware {
  constructor(private readonly readiness: Readiness) {}

  use(request: Request, _response: Response, next: NextFunction): void {
    const refusal = PROBES.includes(request.originalUrl.split('?')[0] ?? '') ? null : this.refusal();
    if (refusal) throw refusal;
    next();
  }

  private refusal(): DomainError | null {
    if (this.readiness.isStopping) return new ServiceStopping();
    if (this.readiness.isRecovered) return null;
    return new DomainError('service_recovering', 'The service is still recovering its tasks; repeat shortly.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
