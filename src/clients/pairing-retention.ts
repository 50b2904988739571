import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { StoreReader, Tx } from '../database/index.js';
import {
  expiredBefore,
  RetentionRules,
  type RetentionBatch,
  type RetentionRule,
  type RetentionStep,
  type RetentionSurvey,
} from '../retention/index.js';

const ROW_BYTES = 400;

/**
 * Removes pairings an hour after they have expired, decided or not: until then a program that polls on learns that its
 * code is too old (WIRE B6, B8). What a pairing led to is the client, which stays.
 */
@Injectable()
export class PairingRetention implements RetentionRule, OnModuleInit {
  readonly kind = 'pairings';
  readonly countsFrom = 'expires_at';
  readonly keepSeconds = 3600;

  constructor(private readonly rules: RetentionRules) {}

  onModuleInit(): void {
    this.rules.register(this);
  }

  async step(tx: Tx, { now, limit }: RetentionBatch): Promise<RetentionStep> {
    const { affected } = await tx.execute(
      'DELETE FROM pairings WHERE id IN (SELECT id FROM pairings WHERE expires_at <= ? LIMIT ?)',
      [expiredBefore(now, this.keepSeconds), limit],
    );
    return { removed: affected, rows: affected, next: affected === limit ? 'more' : null };
  }

  async survey(reader: StoreReader, now: number): Promise<RetentionSurvey> {
    const [found] = await reader.query<{ rows: number; oldest: number | null; due: number | null }>(
      'select count(*) as rows, min(expires_at) as oldest, sum(expires_at <= ?) as due from pairings',
      [expiredBefore(now, this.keepSeconds)],
    );
    const rows = found?.rows ?? 0;
    return { rows, oldestAt: found?.oldest ?? null, due: found?.due ?? 0, blocked: [], bytes: rows * ROW_BYTES };
  }
}
