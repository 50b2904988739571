import { Body, Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { IsDefined, IsString } from 'class-validator';
import type { Response as Answer } from 'express';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DomainError, ERROR_CODES, type ErrorCode } from '../../src/errors/index.js';
import { EdgeApp } from '../support/edge-app.js';
import { RawConnection } from '../support/raw-connection.js';
import { waitFor } from '../support/wait-for.js';

class EchoDto {
  @IsDefined()
  @IsString()
  text: string;
}

@Controller('v1/things')
class ThingsController {
  @Get(':id')
  read(@Param('id') id: string): object {
    return { id };
  }

  @Post()
  @HttpCode(200)
  echo(@Body() body: EchoDto): object {
    return { text: body.text };
  }

  @Post(':id/stop')
  @HttpCode(200)
  stop(@Param('id') id: string): object {
    return { id };
  }

  @Get('errors/:code')
  fail(@Param('code') code: ErrorCode): void {
    throw new DomainError(code, 'What to do.', { param: 'field' });
  }

  @Get('bugs/plain')
  bug(): void {
    throw new Error('the password is 1234');
  }

  @Get('bugs/half')
  half(@Res() answer: Answer): void {
    answer.status(200).write('{"half":');
    throw new Error('in the middle');
  }
}

interface Envelope {
  error: { message: string; type: string; param: string | null; code: string };
}

let edge: EdgeApp;
beforeAll(async () => {
  edge = await EdgeApp.start([ThingsController], {
    LMSP_MAX_BODY_BYTES: '2048',
    LMSP_BODY_TIMEOUT_SECONDS: '1',
    LMSP_MAX_JSON_DEPTH: '8',
  });
});
afterAll(() => edge.close());
beforeEach(() => {
  edge.requests.length = 0;
  edge.faults.length = 0;
});

async function refusal(answer: Promise<Response>): Promise<[number, string, string | null]> {
  const response = await answer;
  const { error } = (await response.json()) as Envelope;
  return [response.status, error.code, error.param];
}

describe('the headers of every answer (WIRE B0)', () => {
  it('takes a request id of the caller and makes one where it is missing or strange', async () => {
    const given = await edge.fetch('/v1/things/a', { headers: { 'X-Request-Id': 'my.id-1_A' } });
    expect(given.headers.get('x-request-id')).toBe('my.id-1_A');
    for (const strange of ['with space', 'x'.repeat(65), '{}']) {
      const made = await edge.fetch('/v1/things/a', { headers: { 'X-Request-Id': strange } });
      expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('names the protocol, forbids caching and hides the framework, on errors too', async () => {
    for (const path of ['/v1/things/a', '/nowhere']) {
      const { headers } = await edge.fetch(path);
      expect(headers.get('lmsp-version')).toBe('1.0');
      expect(headers.get('cache-control')).toBe('no-store');
      expect([headers.get('x-powered-by'), headers.get('etag')]).toEqual([null, null]);
      expect(headers.get('content-type')).toMatch(/^application\/json/);
    }
  });

  it('tells the notice of a request by its route pattern, never by its path', async () => {
    await (await edge.fetch('/v1/things/secret-id?token=x')).text();
    await (await edge.fetch('/made-up/secret')).text();
    await waitFor('both notices', () => edge.requests.length === 2);
    expect(edge.requests).toMatchObject([
      { method: 'GET', route: '/v1/things/:id', status: 200, client_id: null, task_id: null },
      { method: 'GET', route: 'unmatched', status: 404 },
    ]);
    expect(edge.requests[0]?.bytes).toBeGreaterThan(20);
    expect(JSON.stringify(edge.requests)).not.toContain('secret');
  });
});

describe('the error envelope (WIRE B9)', () => {
  const statuses: Record<string, number> = {
    authentication_error: 401,
    permission_error: 403,
    rate_limit_error: 429,
  };

  it.each(Object.keys(ERROR_CODES) as ErrorCode[])('%s has its status, form and headers', async (code) => {
    const response = await edge.fetch(`/v1/things/errors/${code}`);
    const { type } = ERROR_CODES[code];
    expect(await response.json()).toEqual({ error: { message: 'What to do.', type, param: 'field', code } });
    if (statuses[type]) expect(response.status).toBe(statuses[type]);
    const retry = response.headers.get('x-should-retry');
    if (response.status === 409) expect(retry).toBe(String(code === 'idempotency_in_progress'));
    if ([429, 503, 507].includes(response.status)) expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  });

  it.each([
    ['missing_api_key', 'Bearer realm="lmsp"'],
    ['invalid_api_key', 'Bearer realm="lmsp", error="invalid_token"'],
    ['token_expired', 'Bearer realm="lmsp", error="invalid_token"'],
    ['insufficient_scope', 'Bearer realm="lmsp", error="insufficient_scope"'],
  ])('%s challenges as WIRE B8 says', async (code, challenge) => {
    const response = await edge.fetch(`/v1/things/errors/${code}`);
    expect(response.headers.get('www-authenticate')).toBe(challenge);
  });

  it('answers an unexpected error with 500 and no word of it, and tells the notice', async () => {
    const response = await edge.fetch('/v1/things/bugs/plain');
    expect(response.status).toBe(500);
    const body = await response.text();
    expect(body).toContain('server_error');
    expect(body).not.toContain('1234');
    expect(edge.faults).toMatchObject([{ message: 'the password is 1234' }]);
  });

  it('breaks the connection when the answer had begun', async () => {
    const reading = edge.fetch('/v1/things/bugs/half').then((response) => response.text());
    await expect(reading).rejects.toThrow();
  });

  it('tells unknown URLs from known ones with another method', async () => {
    expect(await refusal(edge.fetch('/v1/thing'))).toEqual([404, 'unknown_url', null]);
    const wrong = await edge.fetch('/v1/things/a', { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await refusal(edge.fetch('/v1/things', { method: 'GET' }))).toEqual([405, 'method_not_allowed', null]);
  });

  it('refuses a path whose escapes are no text', async () => {
    expect(await refusal(edge.fetch('/v1/things/%E0%A4%A'))).toEqual([400, 'invalid_value', null]);
  });
});

describe('bodies (WIRE B0, CASES BL-28)', () => {
  const text = JSON.stringify({ text: 'hello' });

  it.each([
    ['no JSON', '{:', {}, 400, 'invalid_json'],
    ['an empty body', '', {}, 400, 'invalid_json'],
    ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), {}, 400, 'invalid_json'],
    ['10,000 nested arrays', '['.repeat(1000), {}, 400, 'invalid_json'],
    ['too many bytes', JSON.stringify({ text: 'x'.repeat(3000) }), {}, 413, 'request_too_large'],
    ['a form', 'text=hello', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
    ['another charset', text, { 'Content-Type': 'application/json; charset=latin1' }, 415, 'unsupported_media_type'],
    ['a compressed body', text, { 'Content-Encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['a field of the wrong type', '{"text":5}', {}, 400, 'invalid_type'],
    ['a prototype key', '{"text":"a","__proto__":{}}', {}, 400, 'invalid_value'],
  ])('refuses %s', async (_what, body, headers, status, code) => {
    const response = await edge.post('/v1/things', body, headers);
    const answer = await response.text();
    expect([response.status, (JSON.parse(answer) as Envelope).error.code]).toEqual([status, code]);
    expect(answer).not.toContain('hello');
    expect((await edge.post('/v1/things', text)).status).toBe(200);
  });

  it('refuses a large upload without a length, and the connection goes on', async () => {
    const chunk = new Uint8Array(64 * 1024).fill(0x20);
    let chunks = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => (++chunks > 800 ? controller.close() : controller.enqueue(chunk)),
    });
    const headers = { 'Content-Type': 'application/json' };
    const answer = edge.fetch('/v1/things', { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
    expect(await refusal(answer)).toEqual([413, 'request_too_large', null]);
  });

  it('needs no content type where there is no body', async () => {
    expect((await edge.fetch('/v1/things/a/stop', { method: 'POST' })).status).toBe(200);
    expect((await edge.post('/v1/things', text, { 'Content-Type': 'Application/JSON; charset="UTF-8"' })).status).toBe(
      200,
    );
  });

  it('cuts off a body that never ends, says so, and closes', async () => {
    const slow = await RawConnection.open(edge.port);
    slow.send(
      'POST /v1/things HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Content-Length: 100',
      '',
      '{"te',
    );
    const answer = await slow.ends();
    expect(answer).toMatch(/^HTTP\/1.1 400/);
    expect(answer).toContain('within 1 seconds');
  });

  it('refuses a body that is longer than its length says, and closes', async () => {
    const liar = await RawConnection.open(edge.port);
    liar.send(
      'POST /v1/things HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Content-Length: 14',
      '',
      text,
    );
    expect(await liar.ends()).toMatch(/^HTTP\/1.1 400 Bad Request\r\nConnection: close/);
  });

  it('outlives a body that breaks off', async () => {
    const broken = await RawConnection.open(edge.port);
    broken.send(
      'POST /v1/things HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Content-Length: 99',
      '',
      '{"te',
    );
    broken.cut();
    expect((await edge.post('/v1/things', text)).status).toBe(200);
    expect(edge.faults).toEqual([]);
  });

  it('answers what is no HTTP in the common form', async () => {
    const stranger = await RawConnection.open(edge.port);
    stranger.send('HELLO', '', '');
    expect(await stranger.ends()).toContain('"code":"invalid_value"');
  });
});
