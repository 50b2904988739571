import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { Server as TlsServer, createSecureContext, type SecureContextOptions } from 'node:tls';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, ConfigInvalid, type Config } from '../config/index.js';
import { Notices } from '../notices/index.js';

type TlsSettings = Pick<Config, 'tlsCertFile' | 'tlsKeyFile'>;

const LOOK_MS = 2000;

/** Certificate and key of the configured files, null without any. Throws ConfigInvalid when they cannot be used. */
export function readCertificate({ tlsCertFile, tlsKeyFile }: TlsSettings): SecureContextOptions | null {
  if (tlsCertFile === '') return null;
  const options: SecureContextOptions = {
    cert: read('LMSP_TLS_CERT_FILE', tlsCertFile),
    key: read('LMSP_TLS_KEY_FILE', tlsKeyFile),
    minVersion: 'TLSv1.2',
  };
  try {
    createSecureContext(options);
  } catch (cause) {
    const expected = 'the unencrypted key that belongs to the certificate of LMSP_TLS_CERT_FILE, both as PEM';
    throw unusable('LMSP_TLS_KEY_FILE', `${expected} (${reasonOf(cause)})`, tlsKeyFile);
  }
  return options;
}

function read(key: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw unusable(key, `a file that can be read (${reasonOf(cause)})`, file);
  }
}

function unusable(key: string, expected: string, value: string): ConfigInvalid {
  return new ConfigInvalid([{ key, expected, value }]);
}

function reasonOf(cause: unknown): string {
  return (cause as NodeJS.ErrnoException).code ?? 'unreadable';
}

/** Takes a renewed certificate into use without a restart: when its files change, and on SIGHUP. */
@Injectable()
export class TlsCertificate {
  private unwatch = (): void => undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly notices: Notices,
  ) {}

  watch(server: HttpServer): void {
    const { tlsCertFile, tlsKeyFile } = this.config;
    if (!(server instanceof TlsServer)) return;
    const reload = (): void => this.reload(server);
    const files = [tlsCertFile, tlsKeyFile];
    for (const file of files) watchFile(file, { interval: LOOK_MS, persistent: false }, reload);
    process.on('SIGHUP', reload);
    this.unwatch = () => {
      for (const file of files) unwatchFile(file, reload);
      process.off('SIGHUP', reload);
    };
  }

  stop(): void {
    this.unwatch();
  }

  /** Connections that are open keep the certificate they began with; one that cannot be used is left where it is. */
  private reload(server: TlsServer): void {
    try {
      const certificate = readCertificate(this.config);
      if (certificate !== null) server.setSecureContext(certificate);
      this.notices.emit('tls.reloaded', { file: this.config.tlsCertFile });
    } catch (error) {
      this.notices.emit('tls.reload_failed', { file: this.config.tlsCertFile, error });
    }
  }
}
