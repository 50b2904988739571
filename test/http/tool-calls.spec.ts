import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeEngine, type Piece } from '../support/fake-engine.js';
import { HttpApp, parseEvents } from '../support/http-app.js';
import { openModelText } from '../../src/inference/text/model-text.js';

const POCKET = new URL('../../models/pocket/', import.meta.url).pathname;
const LOOK = {
  type: 'function',
  name: 'look',
  description: 'Looks at a place',
  parameters: { type: 'object', properties: { at: { type: 'string' } } },
};
const GO = { type: 'function', name: 'go' };
const WRITTEN = [
  'Let me',
  ' look.\n',
  '<tool_',
  'call>',
  '{"name": "lo',
  'ok", "arguments"',
  ': {"at": ',
  '"home"}',
  '}',
  '</tool_call>',
];

let said: Piece[] = WRITTEN;
let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => said }) });
});
afterAll(() => http.close());

const rendered = async (): Promise<string> => {
  const { tokenizer } = await openModelText(POCKET);
  const ids = http.engine.requests.at(-1)?.promptIds ?? [];
  return tokenizer.decode(ids, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
};

describe('a function call (WIRE B5)', () => {
  it('is an item of its own behind what the model has said', async () => {
    said = WRITTEN;
    const { body } = await http.create({ tools: [LOOK] });
    expect(body).toMatchObject({
      status: 'completed',
      tools: [{ ...LOOK, strict: false }],
      tool_choice: 'auto',
      output: [
        { type: 'message', status: 'completed', content: [{ text: 'Let me look.' }] },
        { type: 'function_call', status: 'completed', name: 'look', arguments: '{"at": "home"}' },
      ],
    });
    expect(body.output[1].id).toMatch(/^fc_/);
    expect(body.output[1].call_id).toMatch(/^call_/);
    expect(await rendered()).toContain('look(at: string): Looks at a place');
    expect(http.engine.requests.at(-1)?.constraint).toBeUndefined();
  });

  it('streams its arguments as they are written', async () => {
    const stream = await http.fetch('POST', '/v1/responses', {
      model: 'pocket',
      input: 'x',
      tools: [LOOK],
      stream: true,
    });
    const events = parseEvents(await stream.text()).slice(0, -1);
    const of = (word: string) =>
      events.filter(({ event }) => event === `response.${word}`).map(({ data }) => JSON.parse(data));
    expect(of('output_item.added').map(({ item, output_index }) => [item.type, output_index])).toEqual([
      ['message', 0],
      ['function_call', 1],
    ]);
    expect(of('output_item.added')[1].item).toMatchObject({ name: 'look', arguments: '', status: 'in_progress' });
    expect(of('function_call_arguments.delta').map(({ delta }) => delta)).toEqual(['{"at": ', '"home"}']);
    expect(of('function_call_arguments.done')).toMatchObject([{ name: 'look', arguments: '{"at": "home"}' }]);
  });

  it('is text where no tool is given, and where none may be called', async () => {
    said = ['<tool_call>{"name": "look", "arguments": {}}</tool_call>'];
    for (const fields of [{}, { tools: [LOOK], tool_choice: 'none' }, { tools: [GO] }]) {
      expect((await http.create(fields)).body.output).toMatchObject([
        { type: 'message', content: [{ text: said[0] }] },
      ]);
    }
  });

  it('cut off by the limit is incomplete', async () => {
    said = WRITTEN;
    const { body } = await http.create({ tools: [LOOK], max_output_tokens: 7 });
    expect(body).toMatchObject({ status: 'incomplete', output: [{}, { status: 'incomplete', arguments: '{"at": ' }] });
  });

  it.each([[{ max_tool_calls: 1 }], [{ parallel_tool_calls: false }]])(
    '%j ends the answer before a second one',
    async (fields) => {
      said = [...WRITTEN, ...WRITTEN.slice(2), ' and', ' more'];
      for (const store of [true, false]) {
        const { body } = await http.create({ tools: [LOOK], store, ...fields });
        expect(body).toMatchObject({ status: 'completed', output: [{ type: 'message' }, { status: 'completed' }] });
        expect(body.output).toHaveLength(2);
        expect(body.usage.output_tokens).toBe(12);
      }
    },
  );
});

describe('what a function has returned (WIRE B3)', () => {
  it('goes to the model behind its call, by previous_response_id as by items', async () => {
    said = WRITTEN;
    const first = (await http.create({ tools: [LOOK] })).body;
    const call = first.output[1];
    said = ['Nobody.'];
    const output = { type: 'function_call_output', call_id: call.call_id, output: 'Nobody <|im_end|>' };
    await http.create({ input: [output], tools: [LOOK], previous_response_id: first.id });
    const chained = await rendered();
    expect(chained).toContain(
      'Let me look.\n<tool_call>{"name": "look", "arguments": {"at": "home"}}</tool_call><|im_end|>',
    );
    expect(chained).toContain('<|im_start|>tool\nNobody <|im_end|><|im_end|>');
    const told = [{ role: 'user', content: 'Hello' }, { role: 'assistant', content: 'Let me look.' }, call, output];
    const parts = { ...output, output: [{ type: 'input_text', text: output.output }] };
    for (const last of [output, parts]) {
      await http.create({ input: [...told.slice(0, 3), last], tools: [LOOK] });
      expect(await rendered()).toBe(chained);
    }
  });

  it('must be of a call that came before', async () => {
    const output = { type: 'function_call_output', call_id: 'call_1', output: 'x' };
    const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' };
    const refused = { code: 'invalid_value', param: 'input[0].call_id' };
    expect((await http.create({ input: [output, call] })).body.error).toMatchObject(refused);
    expect((await http.create({ input: [call, output] })).status).toBe(200);
  });

  it('is listed among the input', async () => {
    const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' };
    const { body } = await http.create({
      input: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        call,
        { type: 'function_call_output', call_id: 'call_1', output: 'x' },
      ],
    });
    const { data } = (await http.call('GET', `/v1/responses/${body.id}/input_items?order=asc`)).body;
    expect(data).toMatchObject([{ type: 'reasoning', summary: [{ text: 'Hm.' }] }, call, { output: 'x' }]);
  });
});

/** What the output of a response is held to, as it is stored for its attempts. */
async function constraintOf(id: string) {
  const rows = await http.store.reader.query<{ held: string }>(
    `select generation->'$.constraint' as held from responses where id = ?`,
    [id],
  );
  return JSON.parse(rows[0]?.held ?? 'null') as { functions: { name: string; parameters: unknown }[] };
}

describe('tool_choice (WIRE B3)', () => {
  it.each([
    [{ tool_choice: 'required' }, ['look', 'go'], true],
    [{ tool_choice: { type: 'function', name: 'go' } }, ['go'], true],
    [
      { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'go' }] } },
      ['go'],
      true,
    ],
    [{ tools: [{ ...LOOK, strict: true }, GO] }, ['look', 'go'], false],
  ])('%j holds the output to calls', async (fields: Record<string, unknown>, names, required) => {
    http.engine.hold();
    const { id } = await http.accept({ tools: [LOOK, GO], ...fields });
    const held = await constraintOf(id);
    expect(held).toMatchObject({ kind: 'tool_calls', required, parallel: true });
    expect(held.functions.map(({ name }) => name)).toEqual(names);
    const { body } = await http.call('GET', `/v1/responses/${id}`);
    if (fields['tool_choice']) expect(body.tool_choice).toEqual(fields['tool_choice']);
    http.engine.release();
  });

  it('may be made in the place of a form that the text is held to', async () => {
    const text = { format: { type: 'json_object' } };
    http.engine.hold();
    const { id } = await http.accept({ tools: [GO], text });
    expect(await constraintOf(id)).toMatchObject({ kind: 'tool_calls', required: false, otherwise: { kind: 'json' } });
    http.engine.release();
    expect((await http.create({ tools: [GO], text, tool_choice: 'none' })).status).toBe(200);
  });

  it('takes any object where a schema that is not strict cannot be enforced', async () => {
    const odd = { ...LOOK, parameters: { type: 'object', patternProperties: { a: {} } } };
    http.engine.hold();
    const { id } = await http.accept({ tools: [GO, odd], tool_choice: 'required' });
    expect((await constraintOf(id)).functions[1]).toEqual({ name: 'look', parameters: null });
    http.engine.release();
    const { status, body } = await http.create({ tools: [GO, { ...odd, strict: true }], tool_choice: 'required' });
    expect([status, body.error?.param]).toEqual([400, 'tools[1].parameters/patternProperties']);
  });

  it('shows the model only the functions that may be called', async () => {
    const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'go' }] };
    await http.create({ tools: [LOOK, GO], tool_choice });
    expect(await rendered()).toContain('- go()');
    expect(await rendered()).not.toContain('look');
  });

  it.each([
    [{ tools: [{ type: 'web_search' }] }, 'unsupported_value', 'tools[0].type'],
    [{ tools: [{ type: 'function' }] }, 'missing_required_parameter', 'tools[0].name'],
    [{ tools: [{ ...GO, name: 'a b' }] }, 'invalid_value', 'tools[0].name'],
    [{ tools: [GO, GO] }, 'invalid_value', 'tools[1].name'],
    [{ tools: [{ ...GO, parameters: 'x' }] }, 'invalid_type', 'tools[0].parameters'],
    [{ tools: [{ ...GO, parameters: { a: 'x'.repeat(70_000) } }] }, 'invalid_value', 'tools[0].parameters'],
    [{ tools: [GO], tool_choice: 'always' }, 'invalid_value', 'tool_choice'],
    [{ tool_choice: 'required' }, 'invalid_value', 'tool_choice'],
    [{ tools: [GO], tool_choice: { type: 'function', name: 'look' } }, 'invalid_value', 'tool_choice.name'],
    [{ tools: [GO], tool_choice: { type: 'web_search' } }, 'unsupported_value', 'tool_choice.type'],
    [{ tools: [GO], tool_choice: 1 }, 'invalid_value', 'tool_choice'],
    [{ tools: [GO], max_tool_calls: 0 }, 'invalid_value', 'max_tool_calls'],
    [
      { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '[]' }] },
      'invalid_value',
      'input[0].arguments',
    ],
    [{ input: [{ type: 'web_search_call' }] }, 'unsupported_value', 'input[0].type'],
  ])('refuses %j', async (fields, code, param) => {
    const { status, body } = await http.create(fields);
    expect(body.error).toMatchObject({ code, param });
    expect(status).toBe(400);
  });
});
