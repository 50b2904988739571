import { copyFile, readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect, type DetailedPeerCertificate, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { temporaryDirectory } from '../support/store.js';
import { tlsFixture } from '../support/tls-fixture.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
let files: { cert: string; key: string };
let authorities: Buffer[];

async function use(name: 'one' | 'two'): Promise<void> {
  await copyFile(tlsFixture(`${name}.key`), files.key);
  await copyFile(tlsFixture(`${name}.crt`), files.cert);
}

beforeEach(async () => {
  const folder = await temporaryDirectory();
  files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  authorities = [await readFile(tlsFixture('one.crt')), await readFile(tlsFixture('two.crt'))];
  await use('one');
  http = await HttpApp.start({ env: { LMSP_TLS_CERT_FILE: files.cert, LMSP_TLS_KEY_FILE: files.key } });
});
afterEach(() => http.close());

/** Status of a request, and the name in the certificate that answered. */
function ask(path: string, headers: Record<string, string> = {}): Promise<{ status: number; name: string }> {
  return new Promise((resolve, reject) => {
    const url = new URL(path, http.url);
    request(url, { ca: authorities, headers, agent: false, servername: 'localhost' }, (answer) => {
      const certificate = (answer.socket as TLSSocket).getPeerCertificate() as DetailedPeerCertificate;
      answer
        .resume()
        .once('end', () => resolve({ status: answer.statusCode ?? 0, name: String(certificate.subject.CN) }));
    })
      .once('error', reject)
      .end();
  });
}

function handshake(maxVersion: SecureVersion): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const options = {
      port: http.port,
      ca: authorities,
      minVersion: 'TLSv1' as const,
      maxVersion,
      servername: 'localhost',
    };
    const socket = connect({ ...options, ciphers: 'DEFAULT@SECLEVEL=0' }, () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

describe('TLS by certificate files', () => {
  it('is what the service speaks then, and what it says of itself', async () => {
    expect(http.url).toBe(`https://127.0.0.1:${http.port}`);
    const noted = JSON.parse(await readFile(join(http.dataDir, 'service.json'), 'utf8')) as { url: string };
    expect(noted.url).toBe(http.url);
    expect(await ask('/health')).toEqual({ status: 200, name: 'lmsp test one' });
    expect((await ask('/health', { Host: 'evil.example' })).status).toBe(403);
    const own = { Origin: http.url, Authorization: `Bearer ${http.token}` };
    expect((await ask('/v1/models', own)).status).toBe(200);
    expect((await ask('/v1/models', { ...own, Origin: http.url.replace('https', 'http') })).status).toBe(403);
    await expect(fetch(`http://127.0.0.1:${http.port}/health`)).rejects.toThrow();
  });

  it('is 1.2 at least', async () => {
    expect(await handshake('TLSv1.3')).toBe('TLSv1.3');
    expect(await handshake('TLSv1.2')).toBe('TLSv1.2');
    await expect(handshake('TLSv1.1')).rejects.toThrow();
  });

  it('takes a renewed certificate into use when its files change, and on SIGHUP', async () => {
    await use('two');
    await waitFor('the other certificate', async () => (await ask('/health')).name === 'lmsp test two', 15_000);
    await use('one');
    process.emit('SIGHUP');
    expect((await ask('/health')).name).toBe('lmsp test one');
  });

  it('stays with the one before where the changed files do not fit together, and tells', async () => {
    const failures: unknown[] = [];
    http.notices.on('tls.reload_failed', ({ error }) => void failures.push(error));
    await copyFile(tlsFixture('two.key'), files.key);
    process.emit('SIGHUP');
    expect(failures).toMatchObject([{ name: 'ConfigInvalid' }]);
    expect(await ask('/health')).toEqual({ status: 200, name: 'lmsp test one' });
  });
});
