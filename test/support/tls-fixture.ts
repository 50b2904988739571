import { fileURLToPath } from 'node:url';

/** Path of a certificate or key for localhost and 127.0.0.1, made for tests and valid for a hundred years. */
export function tlsFixture(name: 'one.crt' | 'one.key' | 'two.crt' | 'two.key'): string {
  return fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
}
