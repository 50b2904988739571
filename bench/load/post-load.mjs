// A load of equal POSTs in a process of its own: reads its order as JSON from its first argument, prints the figures.
// Bare sockets and requests made once, so that the sender takes as little as can be of processors that it shares.
import net from 'node:net';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { percentile } from '../service.mjs';

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Sends the body to the path for `seconds` from `connections` sockets, each one request after the other; resolves with
 * `{ requests, seconds, per_second, p50_ms, p99_ms, statuses }`.
 */
export function postLoad(order) {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(order)], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`the sender ended with ${code}`)));
  });
}

async function send({ url, token, path, body, connections, seconds }) {
  const { hostname, port, host } = new URL(url);
  const text = JSON.stringify(body);
  const request = Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  const times = [];
  const statuses = {};
  const began = performance.now();
  const end = began + seconds * 1000;
  const one = () =>
    new Promise((resolve, reject) => {
      const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
      let received = Buffer.alloc(0);
      let sent = 0;
      const next = () => {
        sent = performance.now();
        if (sent >= end) socket.end(resolve);
        else socket.write(request);
      };
      socket.on('connect', next).on('error', reject);
      socket.on('data', (chunk) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const head = received.indexOf(HEAD_END);
        if (head < 0) return;
        const lines = received.latin1Slice(0, head);
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(lines)?.[1]);
        if (received.length < head + HEAD_END.length + length) return;
        const status = lines.slice(9, 12);
        statuses[status] = (statuses[status] ?? 0) + 1;
        times.push(performance.now() - sent);
        received = received.subarray(head + HEAD_END.length + length);
        next();
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  const took = (performance.now() - began) / 1000;
  return {
    requests: times.length,
    seconds: took,
    per_second: times.length / took,
    p50_ms: percentile(times, 50),
    p99_ms: percentile(times, 99),
    statuses,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.send(await send(JSON.parse(process.argv[2])));
  process.disconnect();
}
