import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { CONFIG, type Config } from '../config/index.js';
import { RateLimiter } from './rate-limiter.js';
import { tooManyRequests } from './too-many-requests.js';

/**
 * Bounds the requests of each client, LMSP_REQUESTS_PER_MINUTE. After the guard, which knows whose request it is, and
 * before its body is read. Public routes have no client and no such bound.
 */
@Injectable()
export class ClientRateInterceptor implements NestInterceptor {
  private readonly perMinute: number;
  private readonly limiter: RateLimiter;

  constructor(@Inject(CONFIG) { requestsPerMinute: perMinute }: Config) {
    this.perMinute = perMinute;
    this.limiter = new RateLimiter({ perMinute });
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { clientId } = context.switchToHttp().getRequest<{ clientId?: string }>();
    if (this.perMinute > 0 && clientId !== undefined) {
      const seconds = this.limiter.take(clientId);
      if (seconds > 0) throw tooManyRequests(`You may send ${this.perMinute} requests a minute.`, seconds);
    }
    return next.handle();
  }
}
