import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { RawConnection } from '../support/raw-connection.js';

const SECRET = 'do-not-repeat-me';
const MEGABYTE = 1_048_576;

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ env: { LMSP_BODY_TIMEOUT_SECONDS: '1' } });
});
afterAll(() => http.close());

/** Whatever came before, the service is there and has met no bug. */
afterEach(async () => {
  expect((await http.create()).status).toBe(200);
  expect(http.faults).toEqual([]);
});

async function send(body: string | Buffer, headers: Record<string, string> = {}): Promise<[number, string]> {
  const response = await fetch(`${http.url}/v1/responses`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${http.token}`, 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  const text = await response.text();
  expect(text).not.toContain(SECRET);
  return [response.status, (JSON.parse(text) as { error: { code: string } }).error.code];
}

async function raw(...lines: string[]): Promise<RawConnection> {
  const connection = await RawConnection.open(http.port);
  const head = ['Host: localhost', `Authorization: Bearer ${http.token}`, 'Content-Type: application/json'];
  connection.send('POST /v1/responses HTTP/1.1', ...head, ...lines);
  return connection;
}

const create = (fields: string): string => `{"model":"pocket","input":"${SECRET}"${fields}}`;

describe('a malformed or huge body (CASES BL-28)', () => {
  it.each([
    ['broken JSON', `{:"${SECRET}"`, 'invalid_json'],
    ['an empty body', '', 'invalid_json'],
    ['an array', `["${SECRET}"]`, 'invalid_type'],
    ['a bare text', `"${SECRET}"`, 'invalid_type'],
    ['null', 'null', 'invalid_type'],
    ['a text for a boolean', create(',"stream":"true"'), 'invalid_type'],
    ['a text for a number', create(',"max_output_tokens":"10"'), 'invalid_type'],
    ['a number out of range', create(',"max_output_tokens":-1'), 'invalid_value'],
    ['a number beyond all', create(',"max_output_tokens":1e309'), 'invalid_value'],
    ['a temperature beyond all', create(',"temperature":1e309'), 'invalid_value'],
    ['10,000 nested arrays', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'invalid_json'],
    [
      '10,000 nested arrays in a field',
      create(`,"metadata":${'['.repeat(10_000)}${']'.repeat(10_000)}`),
      'invalid_json',
    ],
    ['10,000 nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, 'invalid_json'],
    [
      'invalid UTF-8',
      Buffer.concat([Buffer.from(`{"model":"${SECRET}`), Buffer.of(0xc3, 0x28), Buffer.from('"}')]),
      'invalid_json',
    ],
    ['half a character at its end', Buffer.concat([Buffer.from(create('')), Buffer.of(0xe2, 0x82)]), 'invalid_json'],
    [
      'a token that the model has not, in the background too',
      create(',"background":true,"logit_bias":{"1024":1}'),
      'invalid_value',
    ],
    ['a key __proto__', create(',"__proto__":{"admin":true}'), 'invalid_value'],
    ['a nested key __proto__', create(',"metadata":{"__proto__":"x"}'), 'invalid_value'],
    ['a wrong constructor', create(',"constructor":{"prototype":{}},"model":5'), 'invalid_type'],
  ])('%s is 400, and not repeated', async (_, body, code) => {
    expect(await send(body)).toEqual([400, code]);
    expect(Object.prototype).not.toHaveProperty('admin');
  });

  it('50 MB is 413, announced or not', async () => {
    expect(await send(Buffer.alloc(50 * MEGABYTE, 0x20))).toEqual([413, 'request_too_large']);
    const chunk = new Uint8Array(MEGABYTE).fill(0x20);
    let chunks = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => (++chunks > 50 ? controller.close() : controller.enqueue(chunk)),
    });
    const answer = await fetch(`${http.url}/v1/responses`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${http.token}`, 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit);
    expect([answer.status, await answer.text()]).toEqual([413, expect.stringContaining('request_too_large')]);
  });

  it('a compressed bomb is 415 and never unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * MEGABYTE, 0x20));
    for (const encoding of ['gzip', 'deflate', 'br', 'gzip, gzip', 'identity, gzip']) {
      expect(await send(bomb, { 'Content-Encoding': encoding })).toEqual([415, 'unsupported_media_type']);
    }
  });

  it('a form or a plain text is 415: only pages of the service itself can send JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '']) {
      expect(await send(create(''), { 'Content-Type': type }), type).toEqual([415, 'unsupported_media_type']);
    }
  });

  it('a Content-Length that is too short is refused, and the rest is no request of its own', async () => {
    const smuggler = await raw('Content-Length: 2', '', '{}GET /v1/models HTTP/1.1', 'Host: evil.example', '', '');
    const answer = await smuggler.receives('host_not_allowed');
    expect(answer).toMatch(/^HTTP\/1.1 400/);
    smuggler.cut();
  });

  it.each([
    'Content-Length: -5',
    'Content-Length: 1e3',
    'Content-Length: 2\r\nContent-Length: 3',
    'Content-Length: 2\r\nTransfer-Encoding: chunked',
  ])('a false length (%s) is 400 and the connection ends', async (line) => {
    const liar = await raw(line, '', '{}');
    expect(await liar.ends()).toMatch(/^HTTP\/1.1 400/);
  });

  it('a body that never ends, or comes byte by byte, is cut off and told so', async () => {
    const silent = await raw('Content-Length: 100000', '', '{"model":');
    const dripping = await raw('Transfer-Encoding: chunked', '', '');
    const drip = setInterval(() => dripping.socket.write('1\r\n \r\n'), 50);
    try {
      for (const connection of [silent, dripping])
        expect(await connection.ends()).toMatch(/^HTTP\/1.1 400[^]*invalid_json/);
    } finally {
      clearInterval(drip);
    }
  });

  it('headers without an end are cut off', async () => {
    const endless = await RawConnection.open(http.port);
    endless.send('GET /health HTTP/1.1', 'Host: localhost', 'X-Fill: x');
    expect(await endless.ends()).toMatch(/^HTTP\/1.1 (400|408)/);
  });
});
