import { get } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Random } from '../support/random.js';
import { ServiceProcess } from '../support/service-process.js';

const CUTS = 100;
const LARGEST_READ = 6000;

let service: ServiceProcess;
beforeAll(async () => {
  service = await ServiceProcess.start();
});
afterAll(() => service.dispose());

interface Piece {
  text: string;
  /** The server ended the stream, rather than the cut. */
  ended: boolean;
}

/** Reads at most `bytes` bytes of the stream, then resets the connection. */
function readSome(path: string, lastEventId: number, bytes: number): Promise<Piece> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { authorization: `Bearer ${service.token}`, accept: 'text/event-stream' };
    if (lastEventId >= 0) headers['last-event-id'] = String(lastEventId);
    const request = get(`${service.url}${path}`, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200 && response.statusCode !== 204)
        reject(new Error(`status ${response.statusCode}`));
      const chunks: Buffer[] = [];
      let left = bytes;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk.subarray(0, left));
        left -= chunk.length;
        if (left > 0) return;
        resolve({ text: Buffer.concat(chunks).toString('latin1'), ended: false });
        request.socket?.resetAndDestroy();
      });
      response.on('end', () => resolve({ text: Buffer.concat(chunks).toString('latin1'), ended: true }));
      response.on('error', () => undefined);
    });
    request.on('error', (error) => {
      if (!request.destroyed) reject(error);
    });
  });
}

/** Whole frames only: what a cut left unfinished was never received (WHATWG server-sent events). */
function frames(text: string): string[] {
  const parts = text.split('\n\n');
  return parts.slice(0, -1).filter((frame) => frame.includes('id: '));
}

function idOf(frame: string): number {
  return Number(/^id: (\d+)$/m.exec(frame)?.[1] ?? NaN);
}

it(`a reader cut ${CUTS} times at random bytes sees each event once, in order, byte-equal (CASES BL-07)`, async () => {
  const random = new Random(7);
  let cuts = 0;
  let resumedLive = 0;
  for (let task = 0; cuts < CUTS; task++) {
    const body = { model: 'pocket', input: 'Tell me a very long story.', background: true, temperature: 1, seed: task };
    const { id } = await service.json<{ id: string }>('POST', '/v1/responses', body);
    const path = `/v1/tasks/task_${id.slice(5)}/events`;
    const seen: string[] = [];
    for (let ended = false; !ended;) {
      const last = seen.length - 1;
      const bytes = cuts < CUTS ? random.between(1, LARGEST_READ) : Number.MAX_SAFE_INTEGER;
      const piece = await readSome(path, last, bytes);
      const whole = frames(piece.text);
      expect(whole.map(idOf)).toEqual(whole.map((_, i) => last + 1 + i));
      seen.push(...whole);
      ended = piece.ended;
      if (!ended) cuts += 1;
      if (!ended && whole.length < 3) resumedLive += 1;
    }
    const replay = await readSome(path, -1, Number.MAX_SAFE_INTEGER);
    expect(seen).toEqual(frames(replay.text));
    expect(seen.at(-1)).toContain('event: response.completed');
  }
  expect(cuts).toBeGreaterThanOrEqual(CUTS);
  expect(resumedLive).toBeGreaterThan(0);
});
