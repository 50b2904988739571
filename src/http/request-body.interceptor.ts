import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError } from '../errors/index.js';
import { parseJson } from './json.js';
import { hasBody, readBody, requireJson } from './request-body.js';

const WRITES: readonly string[] = ['POST', 'PUT', 'PATCH'];

/**
 * Reads and parses the body of a write. An interceptor, because those run after the guards and before the pipes:
 * nobody's body is read before its sender is known and may use the route (WIRE B3, order of work).
 */
@Injectable()
export class RequestBodyInterceptor implements NestInterceptor {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (WRITES.includes(request.method) && hasBody(request)) {
      requireJson(request);
      request.body = await this.read(request, http.getResponse<Response>());
    }
    return next.handle();
  }

  private async read(request: Request, response: Response): Promise<unknown> {
    try {
      const bytes = await readBody(request, this.config);
      return bytes.length === 0 ? undefined : parseJson(bytes, this.config.maxJsonDepth);
    } catch (error) {
      // A sender that stalled must not keep the connection. What is too large is read and thrown away instead: closed
      // on, its sender would be told of a broken connection before it reads the answer.
      const stalled = !request.complete && error instanceof DomainError && error.code === 'invalid_json';
      if (stalled) response.setHeader('Connection', 'close');
      throw error;
    }
  }
}
