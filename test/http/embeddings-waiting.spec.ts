import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeldEncoders } from '../support/held-encoders.js';
import { HttpApp, type Answer } from '../support/http-app.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
let encoders: HeldEncoders;
beforeEach(async () => {
  encoders = new HeldEncoders();
  const env = { LMSP_MAX_ROWS: '1', LMSP_MAX_WAITING_REQUESTS: '2' };
  http = await HttpApp.start({ encoders, env });
});
afterEach(() => http.close());

const BODY = { model: 'pocket-embed', input: 'a' };
const embed = (headers: Record<string, string> = {}): Promise<Answer> =>
  http.call('POST', '/v1/embeddings', BODY, headers);
const underWay = (count: number): Promise<unknown> =>
  waitFor(`${count} requests under way`, () => encoders.requests.length === count);

describe('embeddings that wait for their model', () => {
  it('are bounded, and each client has its share: 429 queue_full beyond (WIRE B9)', async () => {
    const first = embed();
    await underWay(1);
    // One of the two finds the client's share of the waiting room taken.
    const others = [embed(), embed()];
    const refused = await Promise.race(others);
    expect(refused.status).toBe(429);
    expect(refused.body.error.code).toBe('queue_full');
    expect(refused.headers.get('retry-after')).toBe('1');
    const foreign = embed({ Authorization: `Bearer ${await http.addClient('embeddings:write')}` });
    for (const count of [1, 2, 3]) {
      await underWay(count);
      encoders.requests.at(-1)!.finish();
    }
    const statuses = (await Promise.all([first, ...others, foreign])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 200, 200, 429]);
  });

  it('are dropped with their connection, whether they run or wait, and leave their place to others', async () => {
    const client = new AbortController();
    const running = http.fetch('POST', '/v1/embeddings', BODY, {}, client.signal);
    await underWay(1);
    const waiting = http.fetch('POST', '/v1/embeddings', BODY, {}, client.signal);
    client.abort();
    await Promise.allSettled([running, waiting]);
    await waitFor('the model to be told', () => encoders.requests[0]!.signal.aborted);
    const next = embed();
    await underWay(2);
    encoders.requests[1]!.finish();
    expect((await next).status).toBe(200);
    expect(http.faults).toEqual([]);
  });

  it('are answered 504 when they take too long (WIRE B9)', async () => {
    await http.close();
    http = await HttpApp.start({ encoders, env: { LMSP_TASK_TIMEOUT_SECONDS: '1' } });
    const { status, body } = await embed();
    expect([status, body.error.code]).toEqual([504, 'task_timeout']);
    expect(encoders.requests[0]!.signal.aborted).toBe(true);
  });
});
