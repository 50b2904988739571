import { Inject, Injectable } from '@nestjs/common';
import { AccessRefusals } from '../clients/index.js';
import type { Origin } from '../audit/index.js';
import { CONFIG, type Config } from '../config/index.js';
import { limitedAddress, RateLimiter, tooManyRequests } from '../http/index.js';

/**
 * Limits on asking and guessing (WIRE B8). Device codes and tokens have 256 bits: only wrong ones are counted, by address,
 * and a right one always passes. User codes are short: each attempt of a client counts.
 */
@Injectable()
export class WrongCodes {
  private readonly asked: RateLimiter | null;
  private readonly wrong: RateLimiter | null;
  private readonly decided: RateLimiter | null;

  constructor(
    private readonly refusals: AccessRefusals,
    @Inject(CONFIG) { pairingsPerMinute, wrongTokensPerMinute }: Config,
  ) {
    this.asked = limiterOf(pairingsPerMinute);
    this.wrong = limiterOf(wrongTokensPerMinute);
    this.decided = limiterOf(wrongTokensPerMinute);
  }

  /** A pairing is asked for. Throws rate_limit_exceeded. */
  countAsked({ address }: Origin): void {
    take(this.asked, limitedAddress(address ?? undefined), 'Too many pairings were asked for from this address.');
  }

  /** Of a device code or token that opens nothing. Throws rate_limit_exceeded. */
  countWrong(origin: Origin): void {
    this.refusals.wrongSecret(origin);
    take(this.wrong, limitedAddress(origin.address ?? undefined), 'Too many wrong codes came from this address.');
  }

  /** A client approves or denies a user code, right or wrong. Throws rate_limit_exceeded. */
  countDecided({ actor }: Origin): void {
    take(this.decided, actor ?? 'unknown', 'Too many codes were tried.');
  }
}

function limiterOf(perMinute: number): RateLimiter | null {
  return perMinute === 0 ? null : new RateLimiter({ perMinute });
}

function take(limiter: RateLimiter | null, caller: string, reason: string): void {
  const seconds = limiter?.take(caller) ?? 0;
  if (seconds > 0) throw tooManyRequests(reason, seconds);
}
