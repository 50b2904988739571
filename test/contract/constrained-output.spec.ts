import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineModel, OutputConstraint, PromptCodec } from '../../src/inference/index.js';
import { POCKET, realCodec, realEngine } from './pocket.js';
import { Recording, request, runTogether } from './recording.js';

const PERSON = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 12 },
    age: { type: 'integer', minimum: 0, maximum: 120 },
    tags: { type: 'array', items: { enum: ['red', 'green'] }, maxItems: 3 },
  },
  required: ['name', 'age', 'tags'],
  additionalProperties: false,
};
const JSON_SCHEMA: OutputConstraint = { kind: 'json', schema: PERSON };
const CALLS: OutputConstraint = {
  kind: 'tool_calls',
  form: { open: '<tool_call>', close: '</tool_call>', argumentsKey: 'arguments' },
  functions: [
    { name: 'add', parameters: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] } },
    { name: 'find_user', parameters: PERSON },
  ],
  required: true,
  parallel: false,
};

describe('an output that is held to a form', () => {
  let model: EngineModel;
  let codec: PromptCodec;
  let promptIds: number[];
  const valid = new Ajv2020().compile(PERSON);
  beforeAll(async () => {
    codec = realCodec();
    model = await realEngine().open(POCKET);
    const messages = [{ role: 'user' as const, content: 'Tell me about a person as JSON.' }];
    promptIds = (await codec.encodeChat(POCKET.directory, messages)).ids;
  });
  afterAll(async () => {
    await model.close();
    await codec.close();
  });

  it('is valid by the schema whatever is drawn, beside rows that are free', async () => {
    const constrained = Array.from({ length: 12 }, (_, i) =>
      request(promptIds, { constraint: JSON_SCHEMA, temperature: 1.5, seed: i }),
    );
    const runs = await runTogether(model, [
      ...constrained,
      request(promptIds, { temperature: 1, maxOutputTokens: 40 }),
    ]);
    for (const run of runs.slice(0, 12)) {
      expect(await run.ended).toEqual({ outcome: 'finished', finish: 'stop' });
      expect(valid(JSON.parse(run.text)), run.text).toBe(true);
    }
  });

  it('goes on from its log as if nothing had happened', async () => {
    const asked = { constraint: JSON_SCHEMA, temperature: 1, seed: 7 };
    const whole = new Recording(model, request(promptIds, asked));
    await whole.ended;
    for (const cut of [1, 5, whole.steps.length - 1]) {
      const replay = whole.steps.slice(0, cut).map(({ tokenId, kernelClass }) => ({ tokenId, kernelClass }));
      const resumed = new Recording(model, request(promptIds, { ...asked, replay }));
      await resumed.ended;
      expect(resumed.steps).toEqual(whole.steps.slice(cut));
    }
  });

  it('is a call of one of the functions where one is asked for', async () => {
    const runs = await runTogether(
      model,
      Array.from({ length: 6 }, (_, i) => request(promptIds, { constraint: CALLS, temperature: 1, seed: i })),
    );
    for (const run of runs) {
      const call = /^<tool_call>\n?(.*)\n?<\/tool_call>$/s.exec(run.text)?.[1];
      expect(JSON.parse(call ?? run.text)).toMatchObject({
        name: expect.stringMatching(/^(add|find_user)$/) as string,
      });
    }
  });

  it('may be text where no call has to be made', async () => {
    const free = new Recording(model, request(promptIds, { maxOutputTokens: 60 }));
    const held = new Recording(
      model,
      request(promptIds, { maxOutputTokens: 60, constraint: { ...CALLS, required: false } }),
    );
    await Promise.all([free.ended, held.ended]);
    expect(held.text).toBe(free.text);
  });

  it('is any JSON object where there is no schema', async () => {
    const run = new Recording(
      model,
      request(promptIds, { constraint: { kind: 'json', schema: null }, maxOutputTokens: 300, seed: 3 }),
    );
    const end = await run.ended;
    if (end.outcome === 'finished' && end.finish === 'stop') expect(typeof JSON.parse(run.text)).toBe('object');
    else expect(run.text).toMatch(/^\{/);
  });

  it('tells log probabilities that the softmax of the model gives', async () => {
    const run = new Recording(model, request(promptIds, { topLogprobs: 3, maxOutputTokens: 8 }));
    await run.ended;
    for (const { tokenId, logprobs } of run.steps) {
      const { top, ...drawn } = logprobs!;
      // Greedy: the drawn one is the likeliest.
      expect(drawn).toEqual(top[0]);
      expect(drawn.tokenId).toBe(tokenId);
      const shares = top.map(({ logprob }) => Math.exp(logprob));
      expect(shares).toEqual([...shares].sort((a, b) => b - a));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(1 + 1e-9);
    }
    expect(Buffer.from(run.steps.flatMap(({ logprobs }) => logprobs?.bytes ?? [])).toString('utf8')).toContain(
      run.text.trim(),
    );
    const silent = new Recording(model, request(promptIds, { maxOutputTokens: 2 }));
    await silent.ended;
    expect(silent.steps[0]).not.toHaveProperty('logprobs');
  });
});

describe('a form that cannot be enforced', () => {
  it('is refused by its place', async () => {
    const codec = realCodec();
    try {
      const schema = { type: 'object', properties: { a: { not: {} } } };
      const json = codec.checkConstraint(POCKET.directory, { kind: 'json', schema }, ['text.format.schema']);
      await expect(json).rejects.toMatchObject({
        code: 'unsupported_value',
        param: 'text.format.schema/properties/a/not',
      });
      const broken = { ...CALLS, functions: [{ name: 'f', parameters: { type: 'text' } }] } as OutputConstraint;
      const calls = codec.checkConstraint(POCKET.directory, broken, ['tools[0].parameters']);
      await expect(calls).rejects.toMatchObject({ code: 'invalid_value', param: 'tools[0].parameters/type' });
      await expect(codec.checkConstraint(POCKET.directory, JSON_SCHEMA, [''])).resolves.toBeUndefined();
    } finally {
      await codec.close();
    }
  });
});
