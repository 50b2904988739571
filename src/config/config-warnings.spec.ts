import { describe, expect, it } from 'vitest';
import { configWarnings } from './config-warnings.js';
import { loadConfig } from './load-config.js';

describe('configWarnings', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('has nothing to say about %s', (host) => {
    expect(configWarnings(loadConfig({ LMSP_HOST: host }))).toEqual([]);
  });

  it.each(['0.0.0.0', '::', '192.168.1.4', '127.example.org'])(
    'warns of %s, which others on the network reach',
    (host) => {
      const env = { LMSP_HOST: host, LMSP_ALLOW_INSECURE_LAN: 'true' };
      expect(configWarnings(loadConfig(env))).toEqual([
        { key: 'LMSP_HOST', reason: expect.stringContaining('unencrypted') },
      ]);
    },
  );

  it('has nothing to say where the network carries TLS', () => {
    const env = { LMSP_HOST: '0.0.0.0', LMSP_TLS_CERT_FILE: '/a.crt', LMSP_TLS_KEY_FILE: '/a.key' };
    expect(configWarnings(loadConfig(env))).toEqual([]);
  });
});
