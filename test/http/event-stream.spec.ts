import { Controller, Get, Param, Res } from '@nestjs/common';
import type { Response as Answer } from 'express';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventStreams, type EventFrame } from '../../src/http/index.js';
import { EdgeApp } from '../support/edge-app.js';
import { RawConnection } from '../support/raw-connection.js';
import { waitFor } from '../support/wait-for.js';

/** What the source of the stream under test does. */
let source: (signal: AbortSignal) => AsyncIterable<EventFrame>;
/** Set when the source was told to end. */
let aborted = false;

@Controller('streams')
class StreamController {
  constructor(private readonly streams: EventStreams) {}

  @Get(':kind')
  async stream(@Param('kind') kind: 'reader' | 'foreground', @Res() answer: Answer): Promise<void> {
    await this.streams.withPlace(kind, async (send) => {
      const frames = (signal: AbortSignal): AsyncIterable<EventFrame> => {
        signal.addEventListener('abort', () => (aborted = true));
        return source(signal);
      };
      await send(answer, kind === 'reader' ? { frames, retryMs: 2000 } : { frames, done: '[DONE]' });
    });
  }
}

async function* fixed(): AsyncGenerator<EventFrame> {
  yield { id: 0, event: 'response.created', data: '{"type":"response.created","sequence_number":0}' };
  yield { event: 'response.completed', data: '{"text":"größe 😀"}' };
}

/** Frames without end, until the signal aborts. */
async function* waiting(signal: AbortSignal): AsyncGenerator<EventFrame> {
  yield { event: 'first', data: '{}' };
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

let edge: EdgeApp;
beforeEach(async () => {
  aborted = false;
  source = fixed;
  edge = await EdgeApp.start([StreamController], { LMSP_HEARTBEAT_SECONDS: '1', LMSP_MAX_STREAMS: '2' });
});
afterEach(() => edge.close());

async function reader(kind = 'reader'): Promise<RawConnection> {
  const connection = await RawConnection.open(edge.port);
  connection.send(`GET /streams/${kind} HTTP/1.1`, 'Host: localhost', '', '');
  return connection;
}

describe('event streams on the wire (WIRE B5, SSE framing)', () => {
  it('frames events with id and reconnect hint, byte for byte, and ends', async () => {
    const text = await (await edge.fetch('/streams/reader')).text();
    expect(text).toBe(
      'retry: 2000\n\n' +
        'id: 0\nevent: response.created\ndata: {"type":"response.created","sequence_number":0}\n\n' +
        'event: response.completed\ndata: {"text":"größe 😀"}\n\n',
    );
  });

  it('ends with [DONE] where it is asked for', async () => {
    const text = await (await edge.fetch('/streams/foreground')).text();
    expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
    expect(text.startsWith('id: 0\nevent: response.created\n')).toBe(true);
  });

  it('sends headers that keep every proxy from holding events back', async () => {
    const { headers } = await edge.fetch('/streams/reader');
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('content-encoding')).toBeNull();
  });

  it('keeps an idle stream alive with comments', async () => {
    source = waiting;
    const connection = await reader();
    await connection.receives('event: first');
    await connection.receives(': keep-alive\n\n');
    connection.cut();
  });

  it('tells the source when its client is gone', async () => {
    source = waiting;
    const connection = await reader();
    await connection.receives('event: first');
    connection.cut();
    await waitFor('the source to be told', () => aborted);
    await waitFor('the place to be free', () => edge.streams.count === 0);
  });

  it('asks the source for no more than a slow reader takes', async () => {
    let made = 0;
    const data = JSON.stringify('x'.repeat(100_000));
    source = async function* () {
      for (; made < 10_000; made++) yield { event: 'large', data };
    };
    const connection = await reader();
    connection.socket.pause();
    await waitFor('the source to be held back', async () => {
      const before = made;
      await new Promise((resolve) => setImmediate(resolve));
      return made > 0 && before === made;
    });
    expect(made).toBeLessThan(1000);
    connection.cut();
    await waitFor('the place to be free', () => edge.streams.count === 0);
  });

  it('refuses a stream beyond the limit with 429 and lets it in once there is room', async () => {
    source = waiting;
    const first = await reader();
    const second = await reader();
    await Promise.all([first.receives('first'), second.receives('first')]);
    const refused = await edge.fetch('/streams/reader');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await refused.text()).toContain('rate_limit_exceeded');
    first.cut();
    await waitFor('room', () => edge.streams.count === 1);
    source = fixed;
    expect((await edge.fetch('/streams/reader')).status).toBe(200);
    second.cut();
  });

  it('closes readers bare at the beginning of a stop, and foreground streams at its end (WIRE B6)', async () => {
    source = waiting;
    const background = await reader('reader');
    const foreground = await reader('foreground');
    await Promise.all([background.receives('first'), foreground.receives('first')]);
    edge.streams.closeReaders();
    expect(await background.receives('\r\n0\r\n\r\n')).not.toContain('DONE');
    expect(foreground.received).not.toContain('\r\n0\r\n\r\n');
    edge.streams.closeAll();
    expect(await foreground.receives('\r\n0\r\n\r\n')).not.toContain('DONE');
    background.cut();
    foreground.cut();
  });

  it('breaks the connection when the source fails, so that nobody takes it for the end', async () => {
    source = async function* () {
      yield { event: 'first', data: '{}' };
      throw new Error('gone');
    };
    await expect(edge.fetch('/streams/foreground').then((answer) => answer.text())).rejects.toThrow();
  });
});
