import { afterEach, describe, expect, it } from 'vitest';
import { newAccessToken } from '../../src/clients/access-token.js';
import { HttpApp, type Answer } from '../support/http-app.js';
import { RawConnection } from '../support/raw-connection.js';

let http: HttpApp;
afterEach(() => http.close());

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function answers(count: number, ask: () => Promise<Answer>): Promise<string[]> {
  const seen: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const { status, body } = await ask();
    seen.push(status < 400 ? String(status) : `${status} ${body.error.code}`);
  }
  return seen;
}

describe('LMSP_REQUESTS_PER_MINUTE (WIRE B9, 429)', () => {
  it('bounds each client by itself and says when to come back, before it reads a body', async () => {
    http = await HttpApp.start({ env: { LMSP_REQUESTS_PER_MINUTE: '3' } });
    const list = () => http.call('GET', '/v1/models');
    expect(await answers(5, list)).toEqual(['200', '200', '200', '429 rate_limit_exceeded', '429 rate_limit_exceeded']);
    const wait = Number((await list()).headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(20);
    const other = bearer(await http.addClient('models:read'));
    expect((await http.call('GET', '/v1/models', undefined, other)).status).toBe(200);
    const sender = await RawConnection.open(http.port);
    const head = ['Host: localhost', `Authorization: Bearer ${http.token}`, 'Content-Length: 9'];
    sender.send('POST /v1/responses HTTP/1.1', ...head, '', '');
    expect(await sender.receives('rate_limit_exceeded')).toMatch(/^HTTP\/1.1 429/);
    sender.cut();
    expect((await fetch(`${http.url}/health`)).status).toBe(200);
  });

  it('is off by default', async () => {
    http = await HttpApp.start();
    const seen = await answers(100, () => http.call('GET', '/v1/models'));
    expect(new Set(seen)).toEqual(new Set(['200']));
  });
});

describe('wrong tokens (HOUSE 7, OPERATE)', () => {
  it('are told so as often as may be, whatever is wrong with them; a right one from the same address passes', async () => {
    http = await HttpApp.start({ env: { LMSP_WRONG_TOKENS_PER_MINUTE: '2' } });
    const tries = [newAccessToken(), 'lmsp_typo', newAccessToken(), 'lmsp_typo'];
    const seen = await answers(4, () => http.call('GET', '/v1/models', undefined, bearer(tries.shift()!)));
    const [wrong, limited] = ['401 invalid_api_key', '429 rate_limit_exceeded'];
    expect(seen).toEqual([wrong, wrong, limited, limited]);
    expect((await http.call('GET', '/v1/models')).status).toBe(200);
    expect((await fetch(`${http.url}/v1/models`)).status).toBe(401);
    const refused = await http.call('GET', '/v1/models', undefined, bearer('lmsp_typo'));
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });

  it('are counted where the operator looks for guessing', async () => {
    http = await HttpApp.start({ env: { LMSP_WRONG_TOKENS_PER_MINUTE: '1' } });
    await answers(3, () => http.call('GET', '/v1/models', undefined, bearer('lmsp_x')));
    const text = await (await http.fetch('GET', '/metrics')).text();
    expect(text).toMatch(/lmsp_auth_failures_total\{reason="rate_limit_exceeded"\} 2/);
  });
});
