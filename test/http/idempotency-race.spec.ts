import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fingerprintOf } from '../../src/http/index.js';
import { CreateResponseDto } from '../../src/responses/dto/create-response.dto.js';
import { ResponseAcceptance } from '../../src/responses/response-acceptance.js';
import { ResponseRequests } from '../../src/responses/response-requests.js';
import type { ResponseDraft } from '../../src/responses/response-store.js';
import { TaskLifecycleService } from '../../src/tasks/index.js';
import { HttpApp, type Answer } from '../support/http-app.js';
import { newKey, replayed, rowsOf, streamed, withKey } from '../support/keyed-requests.js';

const ROUNDS = 100;
const AT_ONCE = 20;

// Thousands of requests, and the prompt of each is tokenised in this process.
vi.setConfig({ testTimeout: 300_000 });

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ env: { LMSP_FOREGROUND_GRACE_SECONDS: '3600' } });
});
afterAll(async () => {
  expect(http.faults).toEqual([]);
  await http.close();
});

const many = <T>(work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, i) => work(i)));

async function tasks(): Promise<number> {
  const [row] = await http.store.reader.query<{ n: number }>('select count(*) as n from tasks');
  return row?.n ?? 0;
}

/** Statuses and how often each came: what the runs are reported by. */
function tally(answers: Answer[], into: Record<string, number>): void {
  for (const answer of answers) {
    const name = `${answer.status}${replayed(answer) ? ' replayed' : ''}`;
    into[name] = (into[name] ?? 0) + 1;
  }
}

describe(`${ROUNDS} rounds of ${AT_ONCE} equal creates at once with one new key (CASES BL-18, WIRE B6, R1)`, () => {
  it('in the background: one task a round, every reply has its id', async () => {
    const seen: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round++) {
      const [key, before] = [newKey(), await tasks()];
      const answers = await many(() => http.create({ background: true }, withKey(key)));
      tally(answers, seen);
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1);
      expect(answers.filter((answer) => !replayed(answer))).toHaveLength(1);
      expect(await tasks()).toBe(before + 1);
    }
    expect(seen).toEqual({ '202': ROUNDS, '202 replayed': ROUNDS * (AT_ONCE - 1) });
  });

  it('in the foreground: one task a round, every reply has its id or says "in progress"', async () => {
    const seen: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round++) {
      const [key, before] = [newKey(), await tasks()];
      const answers = await many(() => http.create({}, withKey(key)));
      tally(answers, seen);
      const ok = answers.filter(({ status }) => status === 200);
      expect(ok.filter((answer) => !replayed(answer))).toHaveLength(1);
      expect(new Set(ok.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      for (const { status, body, headers } of answers.filter(({ status }) => status !== 200)) {
        expect([status, body.error.code, headers.get('retry-after')]).toEqual([409, 'idempotency_in_progress', '1']);
      }
      expect(await tasks()).toBe(before + 1);
    }
    expect(seen['200']).toBe(ROUNDS);
  });

  it('as streams: one task a round, every reader has the same events', async () => {
    for (let round = 0; round < ROUNDS / 4; round++) {
      const [key, before] = [newKey(), await tasks()];
      const answers = await many(() => streamed(http, { background: round % 2 === 0 }, key));
      expect(new Set(answers.map(({ events }) => events.join('\n'))).size).toBe(1);
      expect(answers.map(({ status }) => status)).toEqual(Array<number>(AT_ONCE).fill(200));
      expect(answers.filter((answer) => !replayed(answer))).toHaveLength(1);
      expect(await tasks()).toBe(before + 1);
    }
  });

  it('of two different requests: one wins, the other is refused with 422', async () => {
    for (let round = 0; round < ROUNDS / 4; round++) {
      const [key, before] = [newKey(), await tasks()];
      const answers = await many((i) => http.create({ background: true, input: `Hello ${i % 2}` }, withKey(key)));
      const won = answers.filter(({ status }) => status === 202);
      expect(won).toHaveLength(AT_ONCE / 2);
      expect(new Set(won.map(({ body }) => body.id)).size).toBe(1);
      for (const { status, body } of answers.filter(({ status }) => status !== 202)) {
        expect([status, body.error.code]).toEqual([422, 'idempotency_key_reused']);
      }
      expect(await tasks()).toBe(before + 1);
    }
  });

  it('of two clients: a task for each', async () => {
    const other = await http.addClient('responses:write');
    for (let round = 0; round < ROUNDS / 4; round++) {
      const [key, before] = [newKey(), await tasks()];
      const tokens = [http.token, other];
      const answers = await many((i) =>
        http.create({ background: true }, { ...withKey(key), Authorization: `Bearer ${tokens[i % 2]}` }),
      );
      const ids = [0, 1].map((turn) => new Set(answers.filter((_, i) => i % 2 === turn).map(({ body }) => body.id)));
      expect(ids.map((own) => own.size)).toEqual([1, 1]);
      expect(ids[0]).not.toEqual(ids[1]);
      expect(await tasks()).toBe(before + 2);
    }
  });
});

describe('duplicates in one batch of the accept (WIRE B6, CASES BL-18)', () => {
  let paused: HttpApp;
  beforeAll(async () => {
    // Nothing runs: what is accepted stays as it was.
    paused = await HttpApp.start({ env: { LMSP_MAX_ROWS: '0' } });
  });
  afterAll(() => paused.close());

  async function draft(key: string, input = 'Hello'): Promise<ResponseDraft> {
    const [owner] = await paused.store.reader.query<{ id: string }>('select id from clients where owner = 1');
    const dto = Object.assign(new CreateResponseDto(), { model: 'pocket', input, background: true });
    const fingerprint = fingerprintOf({ input }, {});
    const keyed = { clientId: owner?.id ?? '', method: 'POST', route: '/v1/responses', key, fingerprint };
    return paused.app.get(ResponseRequests, { strict: false }).prepare(dto, keyed.clientId, keyed);
  }

  it('are decided in order and in one unit: the first wins, equal ones are repeats, others are refused', async () => {
    const [key, acceptance] = [newKey(), paused.app.get(ResponseAcceptance, { strict: false })];
    const drafts = [
      await draft(key),
      await draft(key),
      await draft(key, 'Bye'),
      await draft(newKey()),
      await draft(key),
    ];
    const batches = vi.spyOn(paused.app.get(TaskLifecycleService, { strict: false }), 'enqueue');
    // In one tick: what waits when the batch begins comes along.
    const outcomes = await Promise.allSettled(drafts.map((each) => acceptance.accept(each)));
    expect(batches).toHaveBeenCalledTimes(1);
    const told = outcomes.map((outcome) => {
      if (outcome.status === 'rejected') return (outcome.reason as { code: string }).code;
      return [outcome.value.task.responseId, outcome.value.repeated];
    });
    const [first, , , other] = drafts.map(({ body }) => body.id);
    expect(told).toEqual([[first, false], [first, true], 'idempotency_key_reused', [other, false], [first, true]]);
    expect(await rowsOf(paused, key)).toHaveLength(1);
  });
});
