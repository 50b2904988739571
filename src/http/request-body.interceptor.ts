import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError } from '../errors/index.js';
import { parseJson } from './json.js';
import { OAUTH_BODY, OAUTH_BODY_BYTES, parseForm } from './oauth-body.js';
import { announcesForm, hasBody, readBody, requireJson, type BodyLimits } from './request-body.js';

const WRITES: readonly string[] = ['POST', 'PUT', 'PATCH'];

/**
 * Reads and parses the body of a write. An interceptor, because those run after the guards and before the pipes:
 * nobody's body is read before its sender is known and may use the route (WIRE B3, order of work).
 */
@Injectable()
export class RequestBodyInterceptor implements NestInterceptor {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (WRITES.includes(request.method) && hasBody(request)) {
      const marked = [context.getHandler(), context.getClass()];
      const oauth = this.reflector.getAllAndOverride<true | undefined>(OAUTH_BODY, marked) ?? false;
      const isForm = oauth && announcesForm(request);
      if (!isForm) requireJson(request);
      const limits = oauth ? { ...this.config, maxBodyBytes: OAUTH_BODY_BYTES } : this.config;
      const bytes = await this.read(request, http.getResponse<Response>(), limits);
      request.body = this.parsed(bytes, isForm);
    }
    return next.handle();
  }

  private parsed(bytes: Buffer, isForm: boolean): unknown {
    if (bytes.length === 0) return undefined;
    return isForm ? parseForm(bytes) : parseJson(bytes, this.config.maxJsonDepth);
  }

  private async read(request: Request, response: Response, limits: BodyLimits): Promise<Buffer> {
    try {
      return await readBody(request, limits);
    } catch (error) {
      // A sender that stalled must not keep the connection. What is too large is read and thrown away instead: closed
      // on, its sender would be told of a broken connection before it reads the answer.
      const stalled = !request.complete && error instanceof DomainError && error.code === 'invalid_json';
      if (stalled) response.setHeader('Connection', 'close');
      throw error;
    }
  }
}
