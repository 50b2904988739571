import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { frameText, type EventFrame } from './event-frame.js';

export interface EventStreamOptions {
  /** Ends the stream bare: neither a terminal event nor `done` follows, so the client knows to resume. */
  signal: AbortSignal;
  heartbeatSeconds: number;
  /** A reader that takes nothing for so long is cut: it is gone without a word, or will resume. */
  stallSeconds: number;
  /** Reconnect hint, sent first. */
  retryMs?: number;
  /** Data of a last line after all frames, e.g. `[DONE]`. */
  done?: string;
}

/** Headers of every stream (WIRE B5): nothing on the way may keep, change, compress or hold back events. */
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Whether the answer is one of these streams; known once its head has been written. */
export function isEventStream(response: ServerResponse): boolean {
  return response.getHeader('Content-Type') === HEADERS['Content-Type'];
}

/** Not ": ping": one client takes that for the end of a chunk (WIRE-FACTS A4). */
const HEARTBEAT = ': keep-alive\n\n';

/**
 * Writes the frames as they come and ends the answer. A slow reader holds the source back: the next frame is asked for
 * only when the socket has taken the last one, so nothing piles up. Rejects with what the source threw.
 */
export async function writeEventStream(
  response: ServerResponse,
  frames: AsyncIterable<EventFrame | Buffer>,
  options: EventStreamOptions,
): Promise<void> {
  const { signal, retryMs, done } = options;
  response.writeHead(200, HEADERS);
  response.flushHeaders();
  if (retryMs !== undefined) response.write(`retry: ${retryMs}\n\n`);
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(HEARTBEAT);
  }, options.heartbeatSeconds * 1000);
  try {
    for await (const frame of frames) {
      if (signal.aborted) break;
      heartbeat.refresh();
      if (!response.write(Buffer.isBuffer(frame) ? frame : frameText(frame))) await drained(response, options);
    }
    if (done !== undefined && !signal.aborted) response.write(`data: ${done}\n\n`);
  } finally {
    clearInterval(heartbeat);
  }
  response.end();
}

async function drained(response: ServerResponse, { signal, stallSeconds }: EventStreamOptions): Promise<void> {
  const stall = setTimeout(() => response.destroy(), stallSeconds * 1000);
  try {
    await once(response, 'drain', { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearTimeout(stall);
  }
}
