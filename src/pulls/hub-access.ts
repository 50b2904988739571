import { readFile } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, serviceVersion, type Config } from '../config/index.js';
import { DomainError } from '../errors/index.js';
import { HubClient } from './hub/hub-client.js';
import { HubConnection } from './hub/hub-connection.js';

/** The hub that the settings name. */
@Injectable()
export class HubAccess {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** For one pull: its token is read when it is first needed. */
  open(): HubClient {
    const { hubUrl, pullStallSeconds, pullMaxFiles, pullMaxListingBytes } = this.config;
    const hub = new URL(hubUrl);
    let token: Promise<string | null> | null = null;
    const connection = new HubConnection({
      hub,
      token: () => (token ??= this.token()),
      userAgent: `lmsp/${serviceVersion()}`,
      stallMs: pullStallSeconds * 1000,
    });
    return new HubClient(hub, connection, { maxFiles: pullMaxFiles, maxListingBytes: pullMaxListingBytes });
  }

  private async token(): Promise<string | null> {
    const { hubToken, hubTokenFile } = this.config;
    if (hubTokenFile === '') return hubToken === '' ? null : hubToken;
    const token = await readFile(hubTokenFile, 'utf8').then(
      (text) => text.trim(),
      () => '',
    );
    if (/^[\x21-\x7e]+$/.test(token)) return token;
    throw new DomainError('hub_access_denied', 'The file of LMSP_HUB_TOKEN_FILE cannot be read, or holds no token.');
  }
}
