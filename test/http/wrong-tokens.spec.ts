import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CoalescedAudit } from '../../src/audit/index.js';
import { newAccessToken } from '../../src/clients/access-token.js';
import { HttpApp } from '../support/http-app.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

const as = (token: string) => http.call('GET', '/v1/clients/me', undefined, { Authorization: `Bearer ${token}` });

describe('wrong tokens (WIRE B8, CASES BL-38)', () => {
  it('look the same whatever is wrong with them, and are slowed down; the right one always passes', async () => {
    const { token } = http;
    const kinds = [
      `${token.slice(0, 30)}${newAccessToken().slice(30)}`,
      newAccessToken(),
      token.slice(0, -1),
      'x'.repeat(54),
    ];
    const answers = [];
    for (const kind of kinds) {
      const { status, body, headers } = await as(kind);
      answers.push([status, body, headers.get('www-authenticate')]);
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject([401, { error: { code: 'invalid_api_key' } }, /invalid_token/]);
    for (let i = 0; i < 6; i++) expect((await as(newAccessToken())).status).toBe(401);
    const slowed = await as(newAccessToken());
    expect([slowed.status, slowed.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await as(token)).status).toBe(200);
  });

  it('leave a bounded number of rows in the record: a flood is told in one', async () => {
    for (let i = 0; i < 40; i++) await as(newAccessToken());
    await http.app.get(CoalescedAudit, { strict: false }).flush();
    const { data } = (await http.call('GET', '/v1/audit?action=token.refused&order=asc')).body;
    expect(data).toHaveLength(11);
    expect(data[0]).toMatchObject({ outcome: 'refused', actor: null, address: '127.0.0.1', count: 1 });
    expect(data[10]).toMatchObject({ outcome: 'refused', count: 41 });
  });
});
