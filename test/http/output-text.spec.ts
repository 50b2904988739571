import { afterEach, describe, expect, it } from 'vitest';
import { END, FakeEngine, type Piece } from '../support/fake-engine.js';
import { HttpApp, parseEvents } from '../support/http-app.js';

let http: HttpApp;
afterEach(() => http.close());

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const bytesOf = (text: string): Uint8Array[] => [...Buffer.from(text)].map((byte) => bytes(byte));

interface Told {
  deltas: string[];
  streamed: string;
  plain: string;
  status: string;
}

/** What clients see of a script: as a stream, as one answer and in the store; all must say the same. */
async function tell(tokens: Piece[], fields: Record<string, unknown> = {}): Promise<Told> {
  http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => tokens }) });
  const request = { model: 'pocket', input: 'x', stream: true, ...fields };
  const stream = parseEvents(await (await http.fetch('POST', '/v1/responses', request)).text());
  const events = stream.slice(0, -1).map(({ data }) => JSON.parse(data));
  const deltas = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta as string);
  const final = events.at(-1).response;
  const streamed = final.output[0].content[0].text as string;
  expect(deltas.join('')).toBe(streamed);
  const { body } = await http.create(fields);
  const plain = body.output[0].content[0].text as string;
  expect(plain).toBe(streamed);
  const unstored = (await http.create({ ...fields, store: false })).body;
  expect(unstored.output[0].content).toEqual(body.output[0].content);
  expect((await http.call('GET', `/v1/responses/${body.id}`)).body).toEqual(body);
  return { deltas, streamed, plain, status: final.status as string };
}

describe('characters split over tokens (CASES BL-20)', () => {
  it.each(['😀', '👨‍👩‍👧‍👦', '漢字', 'größer', 'नमस्ते'])('tells %s whole, byte by byte as it comes', async (text) => {
    const { deltas, plain } = await tell(bytesOf(text));
    expect(plain).toBe(text);
    expect(deltas.join('')).not.toContain('\uFFFD');
  });

  it('tells the three tokens F0, 9F 98, 80 as one delta', async () => {
    expect((await tell([bytes(0xf0), bytes(0x9f, 0x98), bytes(0x80)])).deltas).toEqual(['😀']);
  });

  it('is not held up by a lone bad byte', async () => {
    expect((await tell(['good', bytes(0xff), 'news'])).plain).toBe('good\uFFFDnews');
  });
});

describe('stop texts over several tokens (CASES BL-22)', () => {
  it.each<[string, Piece[], unknown, string]>([
    ['over three tokens', ['say ', 'EN', 'D_', 'OF', ' more'], 'END_OF', 'say '],
    ['in the middle of a token', ['say xSTOPy more'], 'STOP', 'say x'],
    ['the earliest of two', ['x', 'a', 'bc'], ['abc', 'ab'], 'x'],
    ['as the very first text', ['END', 'more'], 'END', ''],
    ['inside an emoji', bytesOf('a😀b'), '😀', 'a'],
  ])('%s', async (_where, tokens, stop, text) => {
    const { deltas, plain, status } = await tell(tokens, { stop });
    expect([plain, status]).toEqual([text, 'completed']);
    expect(deltas.join('')).toBe(text);
  });

  it('lets held-back text out when the match fails, and at the end', async () => {
    expect((await tell(['EN', 'D', ' of it'], { stop: 'END_OF' })).plain).toBe('END of it');
    await http.close();
    expect((await tell(['the EN'], { stop: 'END_OF' })).plain).toBe('the EN');
  });
});

describe('the end of a generation (CASES BL-23, invariant 10)', () => {
  it('ends at the end token, without its text', async () => {
    expect(await tell(['yes', END, 'no'])).toMatchObject({ plain: 'yes', status: 'completed' });
  });

  it('is completed and empty when the end token comes first', async () => {
    expect(await tell([END])).toMatchObject({ deltas: [], plain: '', status: 'completed' });
  });

  it('is incomplete by its limit, and says why', async () => {
    const { status } = await tell(['a', 'b', 'c', 'd'], { max_output_tokens: 2 });
    expect(status).toBe('incomplete');
    const { body } = await http.create({ max_output_tokens: 2 });
    expect(body).toMatchObject({
      incomplete_details: { reason: 'max_output_tokens' },
      completed_at: null,
      output: [{ status: 'incomplete', content: [{ text: 'ab' }] }],
      usage: { output_tokens: 2 },
    });
  });
});
