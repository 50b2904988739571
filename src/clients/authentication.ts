import { Injectable } from '@nestjs/common';
import { isWellFormed } from './access-token.js';
import type { Authenticator } from './authenticator.js';
import { bearerToken, ClientDirectory } from './client-directory.js';
import type { Client } from './client.js';
import { SubjectClients } from './subject-clients.js';

/** What of a request tells who sends it. */
export interface SentRequest {
  headers: Record<string, string | string[] | undefined>;
  socket: { remoteAddress?: string };
}

interface Authority {
  /** Name of the extension that it comes from. */
  name: string;
  authenticator: Authenticator;
}

/** Who sends a request: a client with a token of ours, or a subject of the authenticator that an extension brings. */
@Injectable()
export class Authentication {
  private authority: Authority | null = null;

  constructor(
    private readonly directory: ClientDirectory,
    private readonly subjects: SubjectClients,
  ) {}

  /** Puts the authenticator of an extension beside our own tokens. */
  use(authority: Authority): void {
    this.authority = authority;
  }

  /** Throws missing_api_key, invalid_api_key, token_expired, and what the authenticator throws. */
  async sender({ headers, socket }: SentRequest): Promise<Client> {
    const { authorization } = headers;
    const header = typeof authorization === 'string' ? authorization : undefined;
    const token = bearerToken(header);
    if (this.authority !== null && (token === null || !isWellFormed(token))) {
      const { name, authenticator } = this.authority;
      const identity = await authenticator.authenticate({ token, headers, address: socket.remoteAddress ?? null });
      if (identity !== null) return this.subjects.of(name, identity);
    }
    return this.directory.authenticate(header);
  }
}
