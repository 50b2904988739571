import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeEngine } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';
import { scrapeOf, valueOf } from '../support/scrape.js';
import { waitFor } from '../support/wait-for.js';

const LONG = 'Tell me about the sea and the wind, please. '.repeat(20);

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ engine: new FakeEngine({ stepDelayMs: 1 }) });
});
afterAll(() => http.close());

interface Usage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number };
}

const cachedOf = ({ usage }: { usage: Usage }): number => usage.input_tokens_details.cached_tokens;
/** What of a prompt a later one may find: whole blocks, and two tokens are left. */
const wholeBlocks = (tokens: number): number => Math.floor((tokens - 2) / 64) * 64;

describe('usage.input_tokens_details.cached_tokens', () => {
  it('tells what a turn found of the one before it, stored or not, in the answer, its terminal event and the store', async () => {
    const { body: first } = await http.create({ input: LONG });
    expect(cachedOf(first)).toBe(0);
    const { id, lmsp } = await http.accept({ input: 'And the rain?', previous_response_id: first.id });
    await http.task(lmsp.task_id, 'completed');
    const { body: second } = await http.call('GET', `/v1/responses/${id}`);
    expect(cachedOf(second)).toBe(Math.floor(first.usage.input_tokens / 64) * 64);
    const events = await http.events(`/v1/tasks/${lmsp.task_id}/events`);
    expect(JSON.parse(events.at(-1)!.data).response).toEqual(second);
    const { body: third } = await http.create({ input: LONG, store: false });
    expect(cachedOf(third)).toBe(wholeBlocks(third.usage.input_tokens));
  });

  it('of chat completions tells the same, and the metrics count it', async () => {
    const counted = async (): Promise<(number | undefined)[]> => {
      const families = await scrapeOf(http);
      const names = ['prompt_tokens_cached_total', 'prefix_cache_hits_total', 'prefix_cache_bytes'];
      return names.map((name) => valueOf(families, `lmsp_${name}`, { model: 'pocket' }));
    };
    const [tokens, hits] = await counted();
    const messages = [
      { role: 'user', content: LONG },
      { role: 'assistant', content: 'Well.' },
      { role: 'user', content: 'Go on.' },
    ];
    const { body } = await http.call('POST', '/v1/chat/completions', { model: 'pocket', messages });
    const { cached_tokens: cached } = body.usage.prompt_tokens_details;
    expect(cached).toBeGreaterThanOrEqual(128);
    const [tokensNow, hitsNow, bytes] = await counted();
    expect([tokensNow! - tokens!, hitsNow! - hits!]).toEqual([cached, 1]);
    expect(bytes).toBeGreaterThan(0);
  });

  it('WIRE B8: is 0 for what another client has asked, so that nobody learns of it', async () => {
    const token = await http.addClient('responses:write');
    const asOther = { Authorization: `Bearer ${token}` };
    const usages = [];
    for (let i = 0; i < 2; i++) usages.push(cachedOf((await http.create({ input: LONG }, asOther)).body));
    expect(usages[0]).toBe(0);
    expect(usages[1]).toBeGreaterThan(0);
  });

  it('is what the first attempt found, also where another process goes on (WIRE B5 invariant 11)', async () => {
    const { body: before } = await http.create({ input: LONG });
    expect(cachedOf(before)).toBeGreaterThan(0);
    http.engine.hold('steps');
    const { id, lmsp } = await http.accept({ input: LONG, on_restart: 'resume' });
    await http.task(lmsp.task_id, 'running');
    http.engine.step(3);
    await waitFor('two tokens', async () => (await http.task(lmsp.task_id, 'running')).progress.output_tokens >= 2);
    http.engine.killAll();
    http.engine.release('steps');
    await http.task(lmsp.task_id, 'completed');
    const { body: resumed } = await http.call('GET', `/v1/responses/${id}`);
    expect(resumed.lmsp.replayed_tokens).toBeGreaterThan(0);
    expect(resumed.usage).toEqual(before.usage);
  });
});

describe('LMSP_PREFIX_CACHE_SHARED', () => {
  it('lets clients find what others have asked; LMSP_PREFIX_CACHE_BYTES=0 keeps nothing for anybody', async () => {
    for (const [env, found] of [
      [{ LMSP_PREFIX_CACHE_SHARED: 'true' }, true],
      [{ LMSP_PREFIX_CACHE_BYTES: '0' }, false],
    ] as const) {
      const app = await HttpApp.start({ env });
      await app.create({ input: LONG });
      const token = await app.addClient('responses:write');
      const { body } = await app.create({ input: LONG }, { Authorization: `Bearer ${token}` });
      expect(cachedOf(body) > 0).toBe(found);
      await app.close();
    }
  });
});
