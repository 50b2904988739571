import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { StoreReader, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Clock } from '../retention/index.js';
import { hashOf } from './access-token.js';
import { scopesFromJson } from './grants.js';
import { readUserCode } from './pairing-codes.js';
import type { Scope } from './scopes.js';

/** A pairing as the owner sees it. Times are epoch milliseconds. */
export interface PairingRecord {
  id: string;
  /** Null where the service was restarted since: only its hash is stored. */
  userCode: string | null;
  clientName: string;
  /** The software's own name. */
  software: string;
  /** Asked for, then granted. */
  scopes: readonly Scope[];
  status: 'pending' | 'approved' | 'denied' | 'consumed';
  address: string;
  tokenExpiresIn: number | null;
  clientId: string | null;
  createdAt: number;
  expiresAt: number;
}

export interface PairingRow {
  id: string;
  client_name: string;
  software: string;
  scopes: string;
  status: PairingRecord['status'];
  address: string;
  interval_seconds: number;
  last_polled_at: number | null;
  token_expires_in: number | null;
  client_id: string | null;
  decided_by: string | null;
  created_at: number;
  expires_at: number;
}

/** The programs that wait for the owner's word: bounded in number, with their codes in memory alone. */
@Injectable()
export class PendingPairings {
  private readonly codes = new Map<string, string>();

  constructor(
    private readonly reader: StoreReader,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Oldest first. */
  async list(): Promise<PairingRecord[]> {
    const rows = await this.reader.query<PairingRow>(
      `select * from pairings where status = 'pending' and expires_at > ? order by id`,
      [this.clock.wallMs()],
    );
    this.forgetAllBut(rows.map(({ id }) => id));
    return rows.map((row) => pairingOf(row, this.codes.get(row.id) ?? null));
  }

  /** Throws rate_limit_exceeded while as many wait as may. */
  async requireRoom(tx: Tx): Promise<void> {
    const rows = await tx.query<{ id: string }>(`select id from pairings where status = 'pending' and expires_at > ?`, [
      this.clock.wallMs(),
    ]);
    this.forgetAllBut(rows.map(({ id }) => id));
    if (rows.length < this.config.maxPendingPairings) return;
    throw new DomainError('rate_limit_exceeded', 'Too many programs wait to be paired; decide on some first.', {
      retryAfterSeconds: 60,
    });
  }

  remember(id: string, userCode: string): void {
    this.codes.set(id, userCode);
  }

  /** The pairing that waits behind the code. Throws pairing_not_found, and pairing_decided for one that waits no more. */
  async waiting(tx: Tx, typed: string): Promise<PairingRow> {
    const code = readUserCode(typed);
    const [row] =
      code === null
        ? []
        : await tx.query<PairingRow>('select * from pairings where user_code_hash = ?', [hashOf(code)]);
    if (!row || (row.status === 'pending' && row.expires_at <= this.clock.wallMs())) throw pairingNotFound();
    if (row.status !== 'pending') {
      throw new DomainError('pairing_decided', `This pairing has been decided already; it is ${row.status}.`);
    }
    return row;
  }

  private forgetAllBut(ids: string[]): void {
    const kept = new Set(ids);
    for (const id of this.codes.keys()) if (!kept.has(id)) this.codes.delete(id);
  }
}

export function pairingOf(row: PairingRow, userCode: string | null): PairingRecord {
  return {
    id: row.id,
    userCode,
    clientName: row.client_name,
    software: row.software,
    scopes: scopesFromJson(row.scopes),
    status: row.status,
    address: row.address,
    tokenExpiresIn: row.token_expires_in,
    clientId: row.client_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

function pairingNotFound(): DomainError {
  return new DomainError('pairing_not_found', 'No program waits with this code; it may have expired.');
}
