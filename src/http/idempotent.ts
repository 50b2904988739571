import {
  createParamDecorator,
  Inject,
  mixin,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { of, type Observable } from 'rxjs';
import { fingerprintOf, IDEMPOTENCY_HEADER, parseIdempotencyKey, type KeyedRequest } from './idempotency-key.js';
import { routePattern } from './request-context.js';

const KEYED = Symbol('keyed');

type SentRequest = Request & { clientId?: string; [KEYED]?: KeyedRequest };

/** How a route answers what was sent to it before. */
export interface RepeatAnswers {
  /**
   * Answers a request whose key is known; resolves with false for the first with its key, which then takes its course.
   * Throws idempotency_key_reused where the key belongs to another request.
   */
  answerRepeat(keyed: KeyedRequest, request: Request, response: Response): Promise<boolean>;
}

/**
 * The route honours Idempotency-Key (WIRE B6); on every other the header is ignored. `answers` is a provider of the
 * route's module. A repeat is answered after authentication and the parsing of the body, and before its validation
 * (WIRE B3, order of work). The route takes its answer into its own hands (`@Res`) and stores the `@Keyed` request
 * together with what it makes of it.
 */
export function Idempotent(answers: Type<RepeatAnswers>): MethodDecorator {
  class IdempotencyInterceptor implements NestInterceptor {
    constructor(@Inject(answers) private readonly repeats: RepeatAnswers) {}

    async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
      const http = context.switchToHttp();
      const request = http.getRequest<SentRequest>();
      const keyed = keyedRequest(request);
      if (keyed === null) return next.handle();
      request[KEYED] = keyed;
      const answered = await this.repeats.answerRepeat(keyed, request, http.getResponse<Response>());
      // Not EMPTY: Nest waits for a value.
      return answered ? of(undefined) : next.handle();
    }
  }
  return UseInterceptors(mixin(IdempotencyInterceptor));
}

/** Parameter of an `@Idempotent` route: the request as its key names it, or null without a key. */
export const Keyed = createParamDecorator(
  (_: unknown, context: ExecutionContext): KeyedRequest | null =>
    context.switchToHttp().getRequest<SentRequest>()[KEYED] ?? null,
);

function keyedRequest(request: SentRequest): KeyedRequest | null {
  const header = request.get(IDEMPOTENCY_HEADER);
  if (header === undefined) return null;
  if (request.clientId === undefined) throw new Error('@Idempotent on a public route');
  return {
    clientId: request.clientId,
    method: request.method,
    route: routePattern(request),
    key: parseIdempotencyKey(header),
    fingerprint: fingerprintOf(request.body, request.params),
  };
}
