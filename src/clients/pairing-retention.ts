import { Injectable, type OnModuleInit } from '@nestjs/common';
import { RetentionRules, TimedRows } from '../retention/index.js';

/**
 * Removes pairings an hour after they have expired, decided or not: until then a program that polls on learns that its
 * code is too old (WIRE B6, B8). What a pairing led to is the client, which stays.
 */
@Injectable()
export class PairingRetention extends TimedRows implements OnModuleInit {
  readonly kind = 'pairings';
  readonly countsFrom = 'expires_at';
  readonly keepSeconds = 3600;
  protected readonly table = { name: 'pairings', key: 'id', rowBytes: 400 };

  constructor(private readonly rules: RetentionRules) {
    super();
  }

  onModuleInit(): void {
    this.rules.register(this);
  }
}
