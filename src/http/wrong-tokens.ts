import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError, type ErrorCode } from '../errors/index.js';
import { limitedAddress } from './caller-address.js';
import { RateLimiter } from './rate-limiter.js';
import { tooManyRequests } from './too-many-requests.js';

const WRONG: readonly ErrorCode[] = ['invalid_api_key', 'token_expired'];

/**
 * Whoever sends wrong tokens again and again hears 429 instead of the reason. A right token is never refused, whatever
 * else came from its address: nobody can lock the owner out.
 */
@Injectable()
export class WrongTokens {
  private readonly limiter: RateLimiter | null;

  constructor(@Inject(CONFIG) { wrongTokensPerMinute: perMinute }: Config) {
    this.limiter = perMinute === 0 ? null : new RateLimiter({ perMinute });
  }

  /** The refusal of a request as its sender hears it. */
  heard(error: DomainError, { socket }: IncomingMessage): DomainError {
    if (this.limiter === null || !WRONG.includes(error.code)) return error;
    const seconds = this.limiter.take(limitedAddress(socket.remoteAddress));
    return seconds === 0 ? error : tooManyRequests('Too many wrong tokens came from this address.', seconds);
  }
}
