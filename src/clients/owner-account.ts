import { Injectable, type OnModuleInit } from '@nestjs/common';
import { newIdentifier, StoreReader, UnitOfWork, type Tx } from '../database/index.js';
import { hashOf, hintOf, newAccessToken } from './access-token.js';
import { OwnerTokenFile } from './owner-token-file.js';
import { knownScopes } from './scopes.js';

/**
 * The owner's way in (WIRE B8 step 0): at the first start a client with every scope is made and its token written to
 * `owner-token` in the data directory. The store keeps a hash, so a lost token cannot be read back: delete the file and
 * restart, and a new token replaces the old one.
 */
@Injectable()
export class OwnerAccount implements OnModuleInit {
  constructor(
    private readonly reader: StoreReader,
    private readonly units: UnitOfWork,
    private readonly file: OwnerTokenFile,
  ) {}

  async onModuleInit(): Promise<void> {
    const [owner] = await this.reader.query<{ id: string }>(
      'SELECT id FROM clients WHERE owner = 1 AND revoked_at IS NULL ORDER BY created_at LIMIT 1',
    );
    if (owner && (await this.file.exists())) return;
    const token = newAccessToken();
    // The row first: a kill in between leaves no file, and the next start does all of this again.
    await this.units.run((tx) => (owner ? replaceToken(tx, owner.id, token) : insertOwner(tx, token)));
    await this.file.write(token);
  }
}

async function insertOwner(tx: Tx, token: string): Promise<void> {
  await tx.execute(
    `INSERT INTO clients (id, name, owner, scopes, token_hash, token_hint, created_at) VALUES (?, 'owner', 1, ?, ?, ?, ?)`,
    [newIdentifier('cli'), JSON.stringify(knownScopes()), hashOf(token), hintOf(token), Date.now()],
  );
}

async function replaceToken(tx: Tx, id: string, token: string): Promise<void> {
  await tx.execute(
    `UPDATE clients SET token_hash = ?, token_hint = ?, former_token_hash = NULL, former_expires_at = NULL,
       former_ends_on_use = NULL WHERE id = ?`,
    [hashOf(token), hintOf(token), id],
  );
}
