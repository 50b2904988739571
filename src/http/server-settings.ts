import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config/index.js';

/** Beyond the body's own limit, which answers politely, node cuts the connection. */
const CUT_AFTER_MS = 5_000;
const KEEP_ALIVE_MS = 60_000;

/** Options of the constructor, which Nest calls without any. Node reads them from the server. */
const SET_BEFORE_LISTENING = {
  // Node would answer a request without Host itself, in no form of ours; CallerPolicy refuses it.
  requireHostHeader: false,
  // How often the times below are looked at: with the 30 s of node, headers could drip for so much longer.
  connectionsCheckingInterval: 1000,
};

/** Bounds of the listening server: connections, headers, whole requests; and silent peers are found out. */
export function configureServer(
  server: Server,
  { bodyTimeoutSeconds, maxConnections }: Pick<Config, 'bodyTimeoutSeconds' | 'maxConnections'>,
): void {
  Object.assign(server, SET_BEFORE_LISTENING);
  server.headersTimeout = bodyTimeoutSeconds * 1000;
  server.requestTimeout = bodyTimeoutSeconds * 1000 + CUT_AFTER_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxConnections = maxConnections;
  server.on('connection', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
  server.on('clientError', refuseUnreadable);
}

const UNREADABLE = JSON.stringify({
  error: {
    message: 'The request is no valid HTTP, or did not arrive in time.',
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_value',
  },
});

/** What is no HTTP request never reaches the application: the envelope is written by hand and the connection closed. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  const { _httpMessage: answer } = socket as { _httpMessage?: { headersSent: boolean } | null };
  if (error.code === 'ECONNRESET' || !socket.writable || answer?.headersSent) {
    socket.destroy();
    return;
  }
  socket.end(
    'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${Buffer.byteLength(UNREADABLE)}\r\n\r\n${UNREADABLE}`,
  );
}
