import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

describe('GET /v1/audit (WIRE B2)', () => {
  it('tells of a retention run by hand, and not of a dry one', async () => {
    await http.call('POST', '/v1/service/retention/run', { dry_run: true });
    // The run of the start may still go on.
    await waitFor('a run by hand', async () => {
      const run = await http.call('POST', '/v1/service/retention/run', {}, { 'X-Request-Id': 'by-hand' });
      return run.status === 200;
    });
    const { status, body } = await http.call('GET', '/v1/audit?action=retention.run');
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'list', has_more: false });
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^audit_/),
        object: 'audit.event',
        created_at: expect.any(Number),
        actor: expect.stringMatching(/^cli_/),
        action: 'retention.run',
        target: null,
        outcome: 'done',
        count: 1,
        request_id: 'by-hand',
        address: '127.0.0.1',
        detail: { removed: expect.any(Number) },
      },
    ]);
  });

  it.each([
    ['action=nothing', 'invalid_value'],
    ['limit=0', 'invalid_value'],
    ['after=audit_x', 'invalid_cursor'],
  ])('refuses %s', async (query, code) => {
    expect((await http.call('GET', `/v1/audit?${query}`)).body.error.code).toBe(code);
  });
});
