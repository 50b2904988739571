import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { newKey, replayed, rowsOf, streamed, taskOf, withKey } from '../support/keyed-requests.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterEach(() => {
  http.engine.release('steps');
  expect(http.faults).toEqual([]);
});
afterAll(() => http.close());

async function count(): Promise<number> {
  const [row] = await http.store.reader.query<{ n: number }>('select count(*) as n from tasks');
  return row?.n ?? 0;
}

describe('row "format": 1..255 visible ASCII, bare or quoted (WIRE B6)', () => {
  it.each([['a'.repeat(256)], ['with space'], ['"'], ['"open'], ['ÿ'], ['""'], ['one, two']])(
    'refuses %j',
    async (key) => {
      const before = await count();
      const { status, body } = await http.create({ background: true }, { 'Idempotency-Key': key });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_idempotency_key', 'Idempotency-Key']);
      expect(await count()).toBe(before);
    },
  );

  it('takes a quoted key for the same key', async () => {
    const key = newKey();
    const first = await http.create({ background: true }, withKey(key));
    const repeat = await http.create({ background: true }, withKey(`"${key}"`));
    expect([repeat.status, repeat.body.id]).toEqual([202, first.body.id]);
  });

  it('looks at it after the body was read, before it is validated (WIRE B3, order of work)', async () => {
    const key = newKey();
    await http.create({ background: true }, withKey(key));
    const unreadable = await fetch(`${http.url}/v1/responses`, {
      method: 'POST',
      headers: { ...withKey('no key'), Authorization: `Bearer ${http.token}`, 'Content-Type': 'application/json' },
      body: '{',
    });
    expect(await unreadable.json()).toMatchObject({ error: { code: 'invalid_json' } });
    expect((await http.create({ stop: '' }, withKey(key))).body.error.code).toBe('idempotency_key_reused');
    expect((await http.create({ stop: '' }, withKey('no key'))).body.error.code).toBe('invalid_idempotency_key');
    const stranger = await http.create({}, { Authorization: 'Bearer no', 'Idempotency-Key': 'no key' });
    expect(stranger.status).toBe(401);
  });
});

describe('row "lookup key": client, method, route, key (WIRE B6, CASES BL-18, BL-39)', () => {
  it('is one client’s own', async () => {
    const key = newKey();
    const other = await http.addClient('responses:write');
    const mine = await http.create({ background: true }, withKey(key));
    const theirs = await http.create({ background: true }, { ...withKey(key), Authorization: `Bearer ${other}` });
    expect(theirs.status).toBe(202);
    expect(replayed(theirs)).toBe(false);
    expect(theirs.body.id).not.toBe(mine.body.id);
    const again = await http.create({ background: true }, { ...withKey(key), Authorization: `Bearer ${other}` });
    expect([again.body.id, replayed(again)]).toEqual([theirs.body.id, true]);
  });

  it('is ignored on routes that do not honour it', async () => {
    const { status } = await http.call('GET', '/v1/tasks', undefined, { 'Idempotency-Key': 'no key' });
    expect(status).toBe(200);
  });
});

describe('row "fingerprint" and "same key, other fingerprint" (WIRE B6, CASES BL-18)', () => {
  it('is the parsed body, whatever its order', async () => {
    const key = newKey();
    const first = await http.create({ background: true, metadata: { a: '1', b: '2' } }, withKey(key));
    const text = '{ "metadata":{"b":"2","a":"1"}, "input":"Hel\\u006co",\n"model":"pocket","background":true }';
    const repeat = await http.fetch('POST', '/v1/responses', JSON.parse(text), withKey(key));
    expect([repeat.status, await repeat.json()]).toEqual([202, first.body]);
  });

  it.each([[{ input: 'Bye' }], [{ stream: true }], [{ store: false, background: false }], [{ unknown: 1 }]])(
    'refuses %j under the key of another request, and no SDK repeats it',
    async (change) => {
      const key = newKey();
      const first = await http.create({ background: true }, withKey(key));
      const { status, headers, body } = await http.create({ background: true, ...change }, withKey(key));
      expect([status, body.error.code, headers.get('x-should-retry')]).toEqual([
        422,
        'idempotency_key_reused',
        'false',
      ]);
      expect(replayed({ headers })).toBe(false);
      expect((await rowsOf(http, key)).map((row) => row.task_id)).toEqual([first.body.lmsp.task_id]);
    },
  );
});

describe('row "repeat, finished" (WIRE B6)', () => {
  it('answers with the 202 of the first, also when the task has ended since', async () => {
    const key = newKey();
    const first = await http.create({ background: true, metadata: { a: 'b' } }, withKey(key));
    await http.task(first.body.lmsp.task_id, 'completed');
    const repeat = await http.create({ background: true, metadata: { a: 'b' } }, withKey(key));
    expect([repeat.status, repeat.body]).toEqual([202, first.body]);
    for (const name of ['location', 'retry-after', 'lmsp-task-id']) {
      expect(repeat.headers.get(name)).toBe(first.headers.get(name));
    }
    expect([replayed(first), replayed(repeat)]).toEqual([false, true]);
  });

  it('answers with the stored response of the foreground', async () => {
    const key = newKey();
    const first = await http.create({}, withKey(key));
    const repeat = await http.create({}, withKey(key));
    expect([repeat.status, repeat.body]).toEqual([200, first.body]);
    expect(repeat.headers.get('lmsp-task-id')).toBe(first.body.lmsp.task_id);
    expect([replayed(first), replayed(repeat)]).toEqual([false, true]);
  });

  it('keeps the key of a background task that was cancelled, and of one that failed', async () => {
    http.engine.hold('steps');
    const key = newKey();
    const { body } = await http.create({ background: true }, withKey(key));
    await http.call('POST', `/v1/responses/${body.id}/cancel`);
    const repeat = await http.create({ background: true }, withKey(key));
    expect([repeat.status, repeat.body.id, repeat.body.status]).toEqual([202, body.id, 'queued']);
  });
});

describe('row "stored": a foreground task that ends failed or cancelled lets its key go (WIRE B6)', () => {
  it('so that a repeat of a cancelled one runs anew', async () => {
    http.engine.hold('steps');
    const key = newKey();
    const waiting = http.create({}, withKey(key));
    const taskId = await taskOf(http, key);
    await http.task(taskId, 'running');
    await http.call('POST', `/v1/tasks/${taskId}/cancel`);
    expect((await waiting).body.status).toBe('cancelled');
    expect(await rowsOf(http, key)).toEqual([]);
    http.engine.release('steps');
    const repeat = await http.create({}, withKey(key));
    expect([repeat.status, repeat.body.status, replayed(repeat)]).toEqual([200, 'completed', false]);
    expect(repeat.body.lmsp.task_id).not.toBe(taskId);
  });

  it('and what was refused holds no key', async () => {
    const key = newKey();
    expect((await http.create({ model: 'nobody' }, withKey(key))).status).toBe(404);
    expect(await rowsOf(http, key)).toEqual([]);
    expect((await http.create({}, withKey(key))).status).toBe(200);
  });

  it('nor does a response that is not stored', async () => {
    const key = newKey();
    const first = await http.create({ store: false }, withKey(key));
    const second = await http.create({ store: false }, withKey(key));
    expect([first.status, second.status, replayed(second)]).toEqual([200, 200, false]);
    expect(second.body.id).not.toBe(first.body.id);
    expect(await rowsOf(http, key)).toEqual([]);
    expect((await http.create({ store: false }, { 'Idempotency-Key': 'no key' })).status).toBe(400);
  });
});

describe('row "repeat, foreground still running" (WIRE B6)', () => {
  it('is told to come again, and gets the response once it is there', async () => {
    http.engine.hold('steps');
    const key = newKey();
    const waiting = http.create({}, withKey(key));
    await http.task(await taskOf(http, key), 'running');
    const { status, headers, body } = await http.create({}, withKey(key));
    expect([status, body.error.code]).toEqual([409, 'idempotency_in_progress']);
    expect(headers.get('lmsp-task-id')).toBe((await rowsOf(http, key))[0]?.task_id);
    expect([headers.get('retry-after'), headers.get('x-should-retry'), replayed({ headers })]).toEqual([
      '1',
      'true',
      false,
    ]);
    http.engine.release('steps');
    const first = await waiting;
    expect((await http.create({}, withKey(key))).body).toEqual(first.body);
  });
});

describe('row "repeat, stream" (WIRE B6)', () => {
  it.each([[{ background: true }], [{}]])('replays an ended one from 0: %j', async (fields) => {
    const key = newKey();
    const first = await streamed(http, fields, key);
    const repeat = await streamed(http, fields, key);
    expect([repeat.status, repeat.events]).toEqual([200, first.events]);
    expect(repeat.events.at(-1)).toBe('[DONE]');
    expect([replayed(first), replayed(repeat)]).toEqual([false, true]);
    expect(repeat.headers.get('lmsp-task-id')).toBe(first.headers.get('lmsp-task-id'));
  });

  it.each([[{ background: true }], [{}]])('replays a running one, then goes on live: %j', async (fields) => {
    http.engine.hold('steps');
    const key = newKey();
    const first = streamed(http, fields, key);
    await http.task(await taskOf(http, key), 'running');
    http.engine.step(2);
    const repeat = streamed(http, fields, key);
    await waitFor('both streams', () => http.streams.count === 2);
    http.engine.release('steps');
    expect((await repeat).events).toEqual((await first).events);
    expect(replayed(await repeat)).toBe(true);
  });

  it('is marked only once it has a place', async () => {
    const full = await HttpApp.start({ env: { LMSP_MAX_STREAMS: '1' } });
    full.engine.hold('steps');
    const body = { model: 'pocket', input: 'Hello', stream: true, background: true };
    const first = await full.fetch('POST', '/v1/responses', body, { 'Idempotency-Key': 'k' });
    const repeat = await full.call('POST', '/v1/responses', body, { 'Idempotency-Key': 'k' });
    expect([repeat.status, repeat.body.error.code, replayed(repeat)]).toEqual([429, 'rate_limit_exceeded', false]);
    full.engine.release('steps');
    await first.text();
    await full.close();
  });
});

describe('rows "expiry" and "response deleted" (WIRE B6)', () => {
  it('an expired key is absent, and belongs to the next request', async () => {
    const key = newKey();
    const first = await http.create({}, withKey(key));
    await http.store.units.run((tx) => tx.execute('UPDATE idempotency_keys SET expires_at = 1 WHERE key = ?', [key]));
    const next = await http.create({ input: 'Something else' }, withKey(key));
    expect([next.status, replayed(next)]).toEqual([200, false]);
    expect((await rowsOf(http, key)).map((row) => row.task_id)).toEqual([next.body.lmsp.task_id]);
    expect(next.body.id).not.toBe(first.body.id);
  });

  it('a deleted response takes its key along', async () => {
    const key = newKey();
    const first = await http.create({}, withKey(key));
    expect((await http.call('DELETE', `/v1/responses/${first.body.id}`)).status).toBe(200);
    expect(await rowsOf(http, key)).toEqual([]);
    const next = await http.create({}, withKey(key));
    expect([next.status, replayed(next)]).toEqual([200, false]);
  });

  it('a full queue refuses the first, never the repeat', async () => {
    const small = await HttpApp.start({ env: { LMSP_MAX_QUEUED_TASKS: '1', LMSP_MAX_ROWS: '0' } });
    const first = await small.create({ background: true }, { 'Idempotency-Key': 'a' });
    const other = await small.create({ background: true }, { 'Idempotency-Key': 'b' });
    const repeat = await small.create({ background: true }, { 'Idempotency-Key': 'a' });
    expect([first.status, other.status, repeat.status]).toEqual([202, 429, 202]);
    expect(repeat.body).toEqual(first.body);
    await small.close();
  });
});
