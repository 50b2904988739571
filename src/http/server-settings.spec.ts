import { Server } from 'node:http';
import { describe, expect, it } from 'vitest';
import { configureServer } from './server-settings.js';

describe('the bounds of the listening server', () => {
  it('come from the configuration; node cuts only what the polite answer did not end', () => {
    const server = new Server();
    configureServer(server, { bodyTimeoutSeconds: 7, maxConnections: 12 });
    expect([server.maxConnections, server.headersTimeout]).toEqual([12, 7000]);
    expect(server.requestTimeout).toBeGreaterThan(7000);
  });
});
