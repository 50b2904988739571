import { Injectable } from '@nestjs/common';
import { AuditLog, type Origin } from '../audit/index.js';
import { StoreReader, UnitOfWork } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { actingRow, liveRow } from './acting-client.js';
import { createClient, findClientRow, recordOf, type ClientRecord, type ClientRow } from './client-record.js';
import type { ClientDraft, IssuedToken } from './client-record.js';
import type { Client } from './client.js';
import { clientNotFound, lastOwner } from './clients.errors.js';
import { requireWithin } from './grants.js';
import type { Scope } from './scopes.js';

export interface ClientPageRequest {
  /** 1..100 */
  limit: number;
  order: 'asc' | 'desc';
  /** Id of the client behind which the page begins. */
  after: string | null;
}

export interface ClientChange {
  name?: string;
  scopes?: readonly Scope[];
}

/** The clients of this service as its owner manages them (WIRE B2, B8). Nobody gives more than it has itself. */
@Injectable()
export class ClientRegistry {
  constructor(
    private readonly reader: StoreReader,
    private readonly units: UnitOfWork,
    private readonly audit: AuditLog,
    private readonly notices: Notices,
  ) {}

  /** Revoked ones too. Throws invalid_cursor when `after` is no client. */
  async page({ limit, order, after }: ClientPageRequest): Promise<{ clients: ClientRecord[]; hasMore: boolean }> {
    if (after !== null && !(await findClientRow(this.reader, after))) {
      throw new DomainError('invalid_cursor', "'after' must be the id of a client.", { param: 'after' });
    }
    const rows = await this.reader.query<ClientRow>(
      `select * from clients where ? is null or id ${order === 'asc' ? '>' : '<'} ? order by id ${order} limit ?`,
      [after, after, limit + 1],
    );
    return { clients: rows.slice(0, limit).map(recordOf), hasMore: rows.length > limit };
  }

  /** Throws client_not_found. */
  async get(id: string): Promise<ClientRecord> {
    const row = await findClientRow(this.reader, id);
    if (!row) throw clientNotFound();
    return recordOf(row);
  }

  /** A client without a pairing. Throws insufficient_scope for more than the caller's own scopes. */
  async create(caller: Client, draft: ClientDraft, origin: Origin): Promise<IssuedToken> {
    const issued = await this.units.run(async (tx) => {
      requireWithin(recordOf(await actingRow(tx, caller)).scopes, draft.scopes);
      const made = await createClient(tx, { ...draft, createdBy: caller.id });
      const detail = { name: draft.name, scopes: draft.scopes };
      await this.audit.record(tx, { action: 'client.created', object: made.client.id, origin, detail });
      return made;
    });
    this.notices.emit('client.changed', { client_id: issued.client.id, change: 'created' });
    return issued;
  }

  /** Throws client_not_found, insufficient_scope, and last_owner for scopes of the owner, who keeps them all. */
  async change(caller: Client, id: string, change: ClientChange, origin: Origin): Promise<ClientRecord> {
    const changed = await this.units.run(async (tx) => {
      const acting = recordOf(await actingRow(tx, caller));
      const row = await liveRow(tx, id);
      const before = recordOf(row);
      requireWithin(acting.scopes, before.scopes, change.scopes ?? []);
      if (before.owner && change.scopes) throw lastOwner();
      const scopes = change.scopes ? JSON.stringify(change.scopes) : row.scopes;
      await tx.execute('UPDATE clients SET name = ?, scopes = ? WHERE id = ?', [change.name ?? row.name, scopes, id]);
      const detail = { name: change.name ?? before.name, scopes: change.scopes ?? before.scopes };
      await this.audit.record(tx, { action: 'client.changed', object: id, origin, detail });
      return recordOf((await findClientRow(tx, id))!);
    });
    this.notices.emit('client.changed', { client_id: id, change: 'changed' });
    return changed;
  }
}
