import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BROKEN, FakeEngine, type Piece } from '../support/fake-engine.js';
import { HttpApp, parseEvents } from '../support/http-app.js';
import { OpenResponsesContract } from '../support/open-responses.js';
import { registerModel } from '../support/register-model.js';
import { temporaryDirectory } from '../support/store.js';
import { POCKET } from './pocket.js';

const CONTRACT = OpenResponsesContract.open('resources and events by Open Responses');
const TEXT: Piece[] = ['Hel', 'lo', '!'];
const CALL: Piece[] = ['<tool_call>{"name": "look", ', '"arguments": {"at": "home"}}', '</tool_call>'];
const LOOK = {
  type: 'function',
  name: 'look',
  description: 'Looks at a place',
  parameters: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
  strict: false,
};

if (CONTRACT === null) it('has no description here', () => expect(CONTRACT).toBeNull());
else describe('Open Responses, 2026-04-24', () => heldTo(CONTRACT));

function heldTo(contract: OpenResponsesContract): void {
  let said: Piece[] = TEXT;
  let http: HttpApp;
  beforeAll(async () => {
    http = await HttpApp.start({ engine: new FakeEngine({ tokens: () => said }) });
    await registerModel(http, { id: 'thinker', type: 'llm', directory: await thinkingPocket() });
  });
  beforeEach(() => {
    said = TEXT;
  });
  afterAll(() => http.close());

  const create = async (fields: object) => {
    const { status, body } = await http.create(fields as Record<string, unknown>);
    expect([status, contract.resourceComplaint(body)]).toEqual([200, null]);
    return body;
  };
  /** All events of a stream, each held to its schema; the last is the terminal one. */
  const stream = async (fields: object) => {
    const request = { model: 'pocket', input: 'Hello', stream: true, ...fields };
    const frames = parseEvents(await (await http.fetch('POST', '/v1/responses', request)).text());
    expect(frames.at(-1)?.data).toBe('[DONE]');
    const events = frames.slice(0, -1).map(({ event, data }) => ({ name: event, event: JSON.parse(data) }));
    for (const { name, event } of events) {
      expect(name).toBe(event.type);
      expect(contract.eventComplaint(event)).toBeNull();
      if (event.response) expect(contract.resourceComplaint(event.response)).toBeNull();
    }
    return events.map(({ event }) => event);
  };
  const types = (events: { type: string }[]): Set<string> => new Set(events.map(({ type }) => type));

  describe('the checks of its suite that need no WebSocket, compaction or vision', () => {
    it('basic-response', async () => {
      const body = await create({ input: [{ type: 'message', role: 'user', content: 'Say hello.' }] });
      expect([body.status, body.output.length]).toEqual(['completed', 1]);
    });

    it('assistant-phase', async () => {
      const body = await create({
        input: [
          { type: 'message', role: 'user', content: 'Hello' },
          { type: 'message', role: 'assistant', content: 'Let me see.', phase: 'commentary' },
          { type: 'message', role: 'user', content: 'And?' },
        ],
      });
      expect(body.status).toBe('completed');
    });

    it('response-output-phase-schema', () => {
      const phased = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', phase: 'final_answer' };
      const content = [{ type: 'output_text', text: 'Yes.', annotations: [], logprobs: [] }];
      const item = { ...phased, content };
      const event = { type: 'response.output_item.done', sequence_number: 1, output_index: 0, item };
      expect(contract.eventComplaint(event)).toBeNull();
    });

    it('streaming-response', async () => {
      const events = await stream({});
      expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    });

    it('system-prompt', async () => {
      const body = await create({
        input: [
          { type: 'message', role: 'system', content: 'You are a pirate.' },
          { type: 'message', role: 'user', content: 'Say hello.' },
        ],
      });
      expect(body.status).toBe('completed');
    });

    it('tool-calling', async () => {
      said = CALL;
      const body = await create({ input: 'Where is the cat?', tools: [LOOK] });
      expect(body.output).toMatchObject([{ type: 'function_call', name: 'look' }]);
    });

    it('multi-turn', async () => {
      const body = await create({
        input: [
          { type: 'message', role: 'user', content: 'My name is Alice.' },
          { type: 'message', role: 'assistant', content: 'Hello Alice!' },
          { type: 'message', role: 'user', content: 'What is my name?' },
        ],
      });
      expect(body.status).toBe('completed');
    });

    it('of older drafts: tool-calling-streaming, function-call-roundtrip, previous-response-id', async () => {
      said = CALL;
      const events = await stream({ tools: [LOOK] });
      expect(types(events)).toContain('response.function_call_arguments.done');
      const { response } = events.at(-1);
      said = TEXT;
      const output = { type: 'function_call_output', call_id: response.output[0].call_id, output: 'a cat' };
      const items = [{ type: 'message', role: 'user', content: 'Hello' }, ...response.output, output];
      await create({ input: items, tools: [LOOK] });
      const next = await create({ input: [output], tools: [LOOK], previous_response_id: response.id });
      expect(next.previous_response_id).toBe(response.id);
    });
  });

  describe('every resource and event', () => {
    it('is told from one that is not', async () => {
      const partial = { ...(await create({})), usage: undefined };
      expect(contract.resourceComplaint(partial)).toContain('usage');
      expect(contract.eventComplaint({ type: 'response.output_text.delta', delta: 1 })).not.toBeNull();
      expect(contract.eventComplaint({ type: 'lmsp.progress' })).not.toBeNull();
    });

    it.each([
      ['text', {}, TEXT],
      ['text with log probabilities', { include: ['message.output_text.logprobs'], top_logprobs: 2 }, TEXT],
      ['nothing', {}, []],
      ['two calls behind words', { tools: [LOOK], parallel_tool_calls: true }, ['Look. ', ...CALL, '\n', ...CALL]],
      ['what has been thought', { model: 'thinker' }, ['<think>', 'Well', '.</think>', 'Yes.']],
      [
        'settings that are echoed',
        { temperature: 0.3, metadata: { a: 'b' }, user: 'u', reasoning: { effort: 'low' } },
        TEXT,
      ],
      ['JSON', { text: { format: { type: 'json_object' } } }, ['{}']],
    ])('of %s', async (_, fields, pieces) => {
      said = pieces;
      const events = await stream(fields);
      expect(events.at(-1).type).toBe('response.completed');
      await create(fields);
      const { body } = await http.call('GET', `/v1/responses/${events.at(-1).response.id}`);
      expect(contract.resourceComplaint(body)).toBeNull();
    });

    it('of what has been thought has the reasoning family of WIRE B5', async () => {
      said = ['<think>', 'Well', '.</think>', 'Yes.'];
      const events = await stream({ model: 'thinker' });
      expect(types(events)).toContain('response.reasoning_summary_text.delta');
      expect(events.at(-1).response.output.map(({ type }: { type: string }) => type)).toEqual(['reasoning', 'message']);
    });

    it('of one that its limit cut', async () => {
      const events = await stream({ max_output_tokens: 2 });
      expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: { status: 'incomplete' } });
    });

    it('of one that failed, the error event before the end', async () => {
      said = ['Hel', BROKEN];
      const events = await stream({});
      expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
    });

    it('of a background one that was cancelled; response.cancelled itself is the chapter’s', async () => {
      http.engine.hold('steps');
      const { id } = await http.accept();
      await http.call('POST', `/v1/responses/${id}/cancel`);
      http.engine.release('steps');
      const { body } = await http.call('GET', `/v1/responses/${id}`);
      expect([body.status, contract.resourceComplaint(body)]).toEqual(['cancelled', null]);
      const frames = await http.events(`/v1/responses/${id}?stream=true`);
      for (const { event, data } of frames.slice(0, -1)) {
        if (event !== 'response.cancelled') expect(contract.eventComplaint(JSON.parse(data))).toBeNull();
      }
    });
  });
}

/** The embedded model with a template that speaks of thoughts. */
async function thinkingPocket(): Promise<string> {
  const directory = join(await temporaryDirectory(), 'thinker');
  await cp(POCKET.directory, directory, { recursive: true });
  const file = join(directory, 'tokenizer_config.json');
  const config = JSON.parse(await readFile(file, 'utf8')) as { chat_template: string };
  await writeFile(file, JSON.stringify({ ...config, chat_template: `${config.chat_template}{# <think> #}` }));
  return directory;
}
