import { UsageError } from '../cli-errors.js';
import { parseDuration } from '../duration.js';
import { EXIT } from '../exit-codes.js';
import type { Session } from '../session.js';
import { printToken, type IssuedClient } from './clients.js';

export interface TokenOptions {
  name: string;
  scopes: string;
  expires?: string;
}

/** `lmsp token create`: a client without a pairing, and its token on standard output. */
export async function createToken(session: Session, { name, scopes, expires }: TokenOptions): Promise<number> {
  const body = {
    name,
    scopes: scopes.split(/[\s,]+/).filter(Boolean),
    ...(expires !== undefined && { expires_in: Math.round(parseDuration(expires) / 1000) }),
  };
  if (body.scopes.length === 0) throw new UsageError('--scopes: name at least one');
  printToken(session, await session.api.json<IssuedClient>('POST', '/v1/clients', { body }));
  return EXIT.done;
}
