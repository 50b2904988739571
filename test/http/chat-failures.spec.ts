import { afterEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../src/errors/index.js';
import { BROKEN, FakeEngine, type Piece } from '../support/fake-engine.js';
import { HttpApp, parseEvents } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
afterEach(() => http.close());

const BODY = { model: 'pocket', messages: [{ role: 'user', content: 'Hello' }], stream: true };
const open = (fields: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Response> =>
  http.fetch('POST', '/v1/chat/completions', { ...BODY, ...fields }, {}, signal);
const start = async (tokens: () => Iterable<Piece>, env: Record<string, string> = {}): Promise<void> => {
  http = await HttpApp.start({ engine: new FakeEngine({ tokens }), env });
};

function* forEver(): Generator<string> {
  for (;;) yield 'a ';
}

const opened = (count: number): Promise<unknown> =>
  waitFor(`${count} open streams`, () => http.streams.count === count);

async function firstText(response: Response): Promise<string> {
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return new TextDecoder().decode(value);
}

describe('a chat that fails (WIRE B7, B9)', () => {
  it('is a status where nothing was told before, streamed or not', async () => {
    await start(() => [BROKEN]);
    http.engine.failLoads(new DomainError('insufficient_resources', 'no memory'));
    for (const stream of [false, true]) {
      const response = await open({ stream });
      expect([response.status, (await response.json()).error.code]).toEqual([503, 'insufficient_resources']);
    }
    http.engine.failLoads(null);
    for (const stream of [false, true]) {
      const response = await open({ stream });
      expect([response.status, (await response.json()).error.code]).toEqual([500, 'model_error']);
    }
  });

  it('ends its stream with the error as the last data, and nothing behind it', async () => {
    await start(() => ['Hel', 'lo', BROKEN]);
    const response = await open();
    expect(response.status).toBe(200);
    const events = parseEvents(await response.text());
    expect(events.map(({ data }) => JSON.parse(data).choices?.[0].delta.content ?? 'error')).toEqual([
      '',
      'Hel',
      'lo',
      'error',
    ]);
    expect(JSON.parse(events.at(-1)!.data)).toEqual({
      error: { type: 'model_error', code: 'model_error', message: expect.any(String), param: null },
    });
  });

  it('gets 429 while as many wait as may, and heartbeats while it waits itself', async () => {
    await start(() => ['a'], { LMSP_MAX_ROWS: '1', LMSP_MAX_WAITING_REQUESTS: '2', LMSP_HEARTBEAT_SECONDS: '1' });
    http.engine.hold('steps');
    const first = open();
    await opened(1);
    const waiting = (await open()).body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await waiting.read()).value).toBe(': keep-alive\n\n');
    const refused = await open();
    expect([refused.status, (await refused.json()).error.code]).toEqual([429, 'queue_full']);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    http.engine.release('steps');
    expect(await (await first).text()).toContain('[DONE]');
    let rest = '';
    for (let read = await waiting.read(); !read.done; read = await waiting.read()) rest += read.value;
    expect(rest).toContain('[DONE]');
  });

  it('counts among the open streams', async () => {
    await start(() => ['a'], { LMSP_MAX_STREAMS: '1' });
    http.engine.hold('steps');
    const first = open();
    await opened(1);
    const refused = await open();
    expect([refused.status, (await refused.json()).error.code]).toEqual([429, 'rate_limit_exceeded']);
    http.engine.release('steps');
    expect((await first).status).toBe(200);
  });
});

describe('a chat whose client leaves (WIRE B7, disconnect)', () => {
  it.each([
    ['in the middle of its stream', true],
    ['without a stream', false],
  ])('stops generating %s, and its row is free again', async (_, stream) => {
    let endless = true;
    await start(() => (endless ? forEver() : ['b']), { LMSP_MAX_ROWS: '1' });
    const gone = new AbortController();
    const response = open({ stream }, gone.signal);
    if (stream) expect(await firstText(await response)).toContain('assistant');
    else await waitFor('it to run', () => http.engine.requests.length === 1);
    endless = false;
    gone.abort();
    await response.catch(() => undefined);
    const other = await open();
    expect(parseEvents(await other.text()).at(-1)?.data).toBe('[DONE]');
    await opened(0);
  });

  it('stops waiting for the model too', async () => {
    await start(() => ['a'], { LMSP_MAX_ROWS: '1' });
    http.engine.hold('steps');
    const first = open();
    await opened(1);
    const gone = new AbortController();
    const second = open({}, gone.signal);
    await opened(2);
    gone.abort();
    await expect(second).rejects.toThrow();
    await opened(1);
    http.engine.release('steps');
    expect(await (await first).text()).toContain('[DONE]');
    expect(http.engine.requests).toHaveLength(1);
  });
});

describe('two chats at once', () => {
  it('share the model: both are told something while neither has ended', async () => {
    http = await HttpApp.start({ engine: new FakeEngine({ tokens: forEver, stepDelayMs: 20 }) });
    const gone = new AbortController();
    const both = await Promise.all([open({}, gone.signal), open({}, gone.signal)]);
    const ids = await Promise.all(both.map(async (each) => JSON.parse(parseEvents(await firstText(each))[0]!.data).id));
    expect(new Set(ids).size).toBe(2);
    await opened(2);
    gone.abort();
    await opened(0);
  });
});
