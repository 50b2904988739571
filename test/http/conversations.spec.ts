import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeEngine } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';

const MOST = 4;
const CONTEXT = 2048;
const NOT_FOUND = { code: 'previous_response_not_found', param: 'previous_response_id' };

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({
    engine: new FakeEngine({ contextLength: CONTEXT }),
    env: { LMSP_MAX_PREVIOUS_RESPONSES: `${MOST}` },
  });
});
afterAll(() => http.close());

const promptIds = (): number[] => http.engine.requests.at(-1)?.promptIds ?? [];
const answer = async (fields: Record<string, unknown>): Promise<string> => {
  const { status, body } = await http.create(fields);
  expect([status, body.error ?? null]).toEqual([200, null]);
  return (body as { id: string }).id;
};
const inputItems = async (id: string): Promise<{ id: string; type: string; role: string; content: unknown[] }[]> =>
  (await http.call('GET', `/v1/responses/${id}/input_items?order=asc`)).body.data;

/** The same conversation, told in one request. */
const TOLD = [
  { role: 'user', content: 'One' },
  { role: 'assistant', content: 'Hello, world!' },
  { role: 'user', content: 'Two' },
  { role: 'assistant', content: 'Hello, world!' },
  { role: 'user', content: 'Three' },
];

describe('previous_response_id (WIRE B3)', () => {
  it('puts inputs and outputs of the whole conversation before the new input, without their instructions', async () => {
    const first = await answer({ input: 'One', instructions: 'Sing.' });
    const second = await answer({ input: 'Two', previous_response_id: first, instructions: 'Dance.' });
    const third = await answer({ input: 'Three', previous_response_id: second });
    const chained = promptIds();
    await answer({ input: TOLD });
    expect(chained).toEqual(promptIds());
    expect((await http.call('GET', `/v1/responses/${third}`)).body.previous_response_id).toBe(second);
    const items = await inputItems(third);
    expect(items.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    expect(new Set(items.map(({ id }) => id)).size).toBe(5);
  });

  it('goes on from an incomplete response, in the background and without being stored', async () => {
    const previous_response_id = await answer({ max_output_tokens: 2 });
    const { lmsp } = await http.accept({ previous_response_id });
    await http.task(lmsp.task_id, 'completed');
    const stored = promptIds();
    await answer({ previous_response_id, store: false });
    expect(promptIds()).toEqual(stored);
  });

  it('WIRE B0: refuses what is foreign, missing, not stored, or has not ended well, always in the same way', async () => {
    const mine = await answer({});
    const other = { Authorization: `Bearer ${await http.addClient('responses:write', 'responses:read')}` };
    const { id: unstored } = (await http.create({ store: false })).body;
    http.engine.hold('steps');
    const { id: cancelled, lmsp } = await http.accept();
    const { id: running } = await http.accept();
    await http.call('POST', `/v1/responses/${cancelled}/cancel`);
    for (const id of ['resp_1', mine.toUpperCase(), unstored, running]) {
      expect((await http.create({ previous_response_id: id })).body.error, id).toMatchObject(NOT_FOUND);
    }
    http.engine.release('steps');
    await http.task(lmsp.task_id, 'cancelled');
    expect((await http.create({ previous_response_id: cancelled })).body.error).toMatchObject(NOT_FOUND);
    expect((await http.create({ previous_response_id: mine }, other)).body.error).toMatchObject(NOT_FOUND);
  });

  it('never goes on from less than the whole conversation', async () => {
    const first = await answer({});
    const second = await answer({ previous_response_id: first });
    await http.call('DELETE', `/v1/responses/${first}`);
    expect((await http.create({ previous_response_id: second })).body.error).toMatchObject(NOT_FOUND);
    expect(await inputItems(second)).toHaveLength(1);
  });

  it('is bounded in length', async () => {
    let last = await answer({});
    for (let i = 1; i < MOST; i++) last = await answer({ previous_response_id: last });
    last = await answer({ previous_response_id: last });
    const refused = { code: 'invalid_value', param: 'previous_response_id' };
    expect((await http.create({ previous_response_id: last })).body.error).toMatchObject(refused);
  });

  it('CASES BL-25: a conversation that outgrows the context is refused with both numbers', async () => {
    const long = await answer({ input: 'word '.repeat(CONTEXT / 4), max_output_tokens: 1 });
    const { status, body } = await http.create({
      input: 'word '.repeat(CONTEXT),
      previous_response_id: long,
      background: true,
    });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'context_length_exceeded', 'input']);
    expect(body.error.message).toMatch(/\d+ tokens.*2048 tokens/);
  });
});

describe('item_reference (WIRE B3)', () => {
  it('stands for an item of the input or the output of a stored response', async () => {
    const first = await answer({ input: 'One' });
    const [question] = await inputItems(first);
    const [output] = (await http.call('GET', `/v1/responses/${first}`)).body.output;
    const second = await answer({
      input: [
        { type: 'item_reference', id: question?.id },
        { type: 'item_reference', id: output.id },
        { role: 'user', content: 'Two' },
      ],
    });
    const referring = promptIds();
    await answer({ input: 'Two', previous_response_id: first });
    expect(referring).toEqual(promptIds());
    const items = await inputItems(second);
    expect(items.map(({ type, role }) => [type, role])).toEqual([
      ['message', 'user'],
      ['message', 'assistant'],
      ['message', 'user'],
    ]);
  });

  it('finds nothing of others, and nothing once the response is deleted', async () => {
    const first = await answer({});
    const [item] = await inputItems(first);
    const input = [{ type: 'item_reference', id: item?.id }];
    const other = { Authorization: `Bearer ${await http.addClient('responses:write')}` };
    const refused = { code: 'item_not_found', param: 'input[0].id' };
    expect((await http.create({ input }, other)).body.error).toMatchObject(refused);
    await http.call('DELETE', `/v1/responses/${first}`);
    expect((await http.create({ input })).body.error).toMatchObject(refused);
    expect(await http.store.reader.query('select * from response_items where response_id = ?', [first])).toEqual([]);
  });
});
