import { Injectable } from '@nestjs/common';
import { AuditLog, NO_ORIGIN } from '../audit/index.js';
import { newIdentifier, StoreReader, UnitOfWork, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import type { Identity } from './authenticator.js';
import { ClientDirectory } from './client-directory.js';
import type { ClientRow } from './client-record.js';
import type { Client } from './client.js';
import { invalidApiKey } from './clients.errors.js';
import { isScope, type Scope } from './scopes.js';

const LONGEST_NAME = 64;
const LONGEST_SUBJECT = 255;

/** The clients that stand for subjects of an authenticator: rows without a token. */
@Injectable()
export class SubjectClients {
  constructor(
    private readonly reader: StoreReader,
    private readonly units: UnitOfWork,
    private readonly audit: AuditLog,
    private readonly directory: ClientDirectory,
    private readonly notices: Notices,
  ) {}

  /** Made at the first request. Throws invalid_api_key where the owner has revoked it. */
  async of(authority: string, identity: Identity): Promise<Client> {
    const { subject } = identity;
    if (subject === '' || subject.length > LONGEST_SUBJECT) throw new Error('an identity without a usable subject');
    const wanted = { name: nameOf(identity), scopes: [...new Set(identity.scopes.filter(isScope))] };
    const found = await find(this.reader, authority, subject);
    const row = isCurrent(found, wanted) ? found : await this.store(authority, subject, wanted);
    if (row.revoked_at !== null) throw invalidApiKey();
    this.directory.noteUse(row);
    return { id: row.id, name: row.name, scopes: wanted.scopes, owner: false, tokenHash: null };
  }

  /** The row shows what the authority said last; requests go by what it says with each of them. */
  private async store(authority: string, subject: string, { name, scopes }: Described): Promise<ClientRow> {
    const { row, isNew } = await this.units.run(async (tx) => {
      const before = await find(tx, authority, subject);
      if (before?.revoked_at != null) return { row: before, isNew: false };
      const id = before?.id ?? newIdentifier('cli');
      await (before ? change(tx, id, { name, scopes }) : insert(tx, id, authority, subject, { name, scopes }));
      if (!before) {
        const detail = { name, scopes, authority };
        await this.audit.record(tx, {
          action: 'client.created',
          object: id,
          origin: { ...NO_ORIGIN, actor: id },
          detail,
        });
      }
      return { row: (await find(tx, authority, subject))!, isNew: !before };
    });
    if (isNew) this.notices.emit('client.changed', { client_id: row.id, change: 'created' });
    return row;
  }
}

interface Described {
  name: string;
  scopes: readonly Scope[];
}

/** A client that signs in elsewhere has no token here. */
export function withoutToken(): DomainError {
  return new DomainError('unsupported_value', 'This client has no token here: it signs in elsewhere.');
}

async function find(from: Pick<StoreReader, 'query'>, authority: string, subject: string): Promise<ClientRow | null> {
  const [row] = await from.query<ClientRow>('select * from clients where authority = ? and subject = ?', [
    authority,
    subject,
  ]);
  return row ?? null;
}

function isCurrent(row: ClientRow | null, { name, scopes }: Described): row is ClientRow {
  if (row === null) return false;
  return row.revoked_at !== null || (row.name === name && row.scopes === JSON.stringify(scopes));
}

async function insert(
  tx: Tx,
  id: string,
  authority: string,
  subject: string,
  { name, scopes }: Described,
): Promise<void> {
  await tx.execute(
    `INSERT INTO clients (id, name, owner, scopes, created_at, authority, subject) VALUES (?, ?, 0, ?, ?, ?, ?)`,
    [id, name, JSON.stringify(scopes), Date.now(), authority, subject],
  );
}

async function change(tx: Tx, id: string, { name, scopes }: Described): Promise<void> {
  await tx.execute('UPDATE clients SET name = ?, scopes = ? WHERE id = ? AND revoked_at IS NULL', [
    name,
    JSON.stringify(scopes),
    id,
  ]);
}

/** People read names in terminals and pages: nothing that writes over what stands beside it. */
function nameOf({ name, subject }: Identity): string {
  const shown = (text: string): string => text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').slice(0, LONGEST_NAME);
  return shown(name ?? '') || shown(subject) || 'nameless';
}
