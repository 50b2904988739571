import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bearerFor } from './bearer.js';
import type { Environment } from './environment.js';
import { findService } from './service-address.js';

let environment: Environment;
beforeEach(() => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lmsp-address-'));
  environment = { dataDir, url: null, token: null, port: 5677, noColor: true, forceColor: false };
});
afterEach(() => rmSync(environment.dataDir, { recursive: true }));

function running(url: string, pid = process.pid): void {
  writeFileSync(join(environment.dataDir, 'service.json'), JSON.stringify({ url, pid }));
  writeFileSync(join(environment.dataDir, 'owner-token'), 'owner\n');
}
const bearer = (url: string | null): string | null =>
  bearerFor(findService(url, environment), { tokenFile: null, insecure: false }, environment);

describe('the address and the token (OPERATE 1.2)', () => {
  it('are those of the service on the data directory', () => {
    running('http://0.0.0.0:4000');
    expect(findService(null, environment)).toEqual({ url: 'http://127.0.0.1:4000', isOwn: true });
    expect(bearer(null)).toBe('owner');
  });

  it('fall back to the default port, without the token of an owner who may not be theirs', () => {
    // Pid 2^22 + 1 is above what Linux gives out: the file was left by a service that was killed.
    running('http://127.0.0.1:4000', 4_194_305);
    expect(findService(null, environment)).toEqual({ url: 'http://127.0.0.1:5677', isOwn: false });
    expect(bearer(null)).toBeNull();
  });

  it.each(['http://localhost:4000/', 'http://127.0.0.1:4000/v1', 'http://[::1]:4000'])(
    'know the own service as %s',
    (url) => {
      running('http://127.0.0.1:4000');
      expect(findService(url, environment)).toEqual({ url: 'http://127.0.0.1:4000', isOwn: true });
    },
  );

  it.each(['http://127.0.0.1:4001', 'https://127.0.0.1:4000', 'http://other:4000', 'http://127.0.0.1:4000/elsewhere'])(
    'keep the own token from %s',
    (url) => {
      running('http://127.0.0.1:4000');
      environment = { ...environment, url };
      expect(findService(null, environment).isOwn).toBe(false);
      expect(bearer(null)).toBeNull();
    },
  );

  it('send a named token encrypted, or to this machine only', () => {
    environment = { ...environment, token: 'named' };
    expect(bearer('https://other')).toBe('named');
    expect(bearer('http://[::1]:1')).toBe('named');
    expect(() => bearer('http://other')).toThrow('--insecure');
    const insecure = { tokenFile: null, insecure: true };
    expect(bearerFor(findService('http://other', environment), insecure, environment)).toBe('named');
  });

  it.each(['other:1', 'ftp://other', 'http://user:pass@other'])('refuse %s', (url) => {
    expect(() => findService(url, environment)).toThrow('LMSP_URL');
  });
});
