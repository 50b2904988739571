import { afterEach, expect, test } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { PairingProgram } from '../support/pairing.js';
import { temporaryDirectory } from '../support/store.js';

let http: HttpApp;
afterEach(() => http.close());

test('ten pairings a minute and address; more get 429 with Retry-After (WIRE B8)', async () => {
  http = await HttpApp.start();
  const app = new PairingProgram(http);
  for (let i = 0; i < 10; i++) expect((await app.ask()).status).toBe(200);
  const { status, headers, body } = await app.ask();
  expect([status, body.error]).toEqual([429, 'temporarily_unavailable']);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
});

test('at most 20 wait for a decision; a decision makes room', async () => {
  http = await HttpApp.start({ env: { LMSP_PAIRINGS_PER_MINUTE: '0' } });
  const app = new PairingProgram(http);
  for (let i = 0; i < 20; i++) expect((await app.ask()).status).toBe(200);
  expect((await new PairingProgram(http).ask()).status).toBe(429);
  await app.decide('deny');
  expect((await app.ask()).status).toBe(200);
});

test('wrong codes are limited on every path: polls, revocations, and user codes also when they are right', async () => {
  http = await HttpApp.start();
  const app = new PairingProgram(http);
  await app.ask();
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) {
    statuses.push((await app.poll({ device_code: `x${i}` })).status);
    statuses.push((await app.form('/oauth/revoke', { token: `x${i}` })).status);
  }
  expect(statuses).toEqual([400, 200, 400, 200, 400, 200, 400, 200, 400, 200, 429, 429]);
  expect((await app.poll()).body.error).toBe('authorization_pending');
  for (let i = 0; i < 10; i++) {
    const { body } = await http.call('POST', '/v1/pairings/BBBB-BBBB/approve');
    expect(body.error.code).toBe('pairing_not_found');
  }
  expect((await app.decide('approve')).status).toBe(429);
});

test('a restart between approval and poll loses nothing', async () => {
  const dataDir = await temporaryDirectory();
  http = await HttpApp.start({ dataDir });
  const [app, waiting] = [new PairingProgram(http), new PairingProgram(http, 'waiting')];
  await app.ask();
  await waiting.ask();
  await app.decide('approve');
  await http.close();
  http = await HttpApp.start({ dataDir });
  const [again, stillWaiting] = [new PairingProgram(http), new PairingProgram(http, 'waiting')];
  again.codes = app.codes;
  stillWaiting.codes = waiting.codes;
  expect((await again.poll()).status).toBe(200);
  // Its code was in memory alone; whoever has it can still say it.
  expect((await http.call('GET', '/v1/pairings')).body.data).toMatchObject([{ user_code: null, software: 'waiting' }]);
  expect((await stillWaiting.decide('approve')).status).toBe(200);
  expect((await stillWaiting.poll()).status).toBe(200);
});
