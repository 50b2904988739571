// Answers held to a JSON schema: 20 schemas by 10 prompts on `pocket` and, where LMSP_TEST_MODELS is set, on SmolLM2. How many
// are valid, how many ran out of tokens, and what a token costs beside free ones. Arguments: prompts per schema, threads.
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { eventually, inParallel, startService } from './service.mjs';

const text = (maxLength, more = {}) => ({ type: 'string', maxLength, ...more });
const list = (items, maxItems, more = {}) => ({ type: 'array', items, maxItems, ...more });
const object = (properties, more = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const NODE = { ...object({ name: text(12), child: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/leaf' }] } }) };

const SCHEMAS = [
  object({ name: text(24), age: { type: 'integer', minimum: 0, maximum: 130 } }),
  object({
    city: text(24),
    degrees: { type: 'number', minimum: -40, maximum: 55 },
    sky: { enum: ['clear', 'cloudy', 'rain'] },
  }),
  object({
    items: list(object({ product: text(20), count: { type: 'integer', minimum: 1, maximum: 99 } }), 4, { minItems: 1 }),
  }),
  object({
    title: text(40),
    tags: list({ enum: ['news', 'sport', 'science', 'art'] }, 3),
    rating: { enum: [1, 2, 3, 4, 5] },
  }),
  object({ date: { type: 'string', format: 'date' }, time: { type: 'string', format: 'time' } }),
  object({ id: { type: 'string', format: 'uuid' }, mail: { type: 'string', format: 'email' } }),
  object({ code: text(12, { pattern: '^[A-Z]{2,3}-\\d{2,4}$' }), active: { type: 'boolean' } }),
  object({ answer: { anyOf: [{ type: 'boolean' }, { type: 'null' }, text(30)] } }),
  {
    oneOf: [
      object({ kind: { const: 'circle' }, radius: { type: 'number', exclusiveMinimum: 0, maximum: 100 } }),
      object({ kind: { const: 'square' }, side: { type: 'integer', minimum: 1, maximum: 9 } }),
    ],
  },
  { ...object({ root: NODE }), $defs: { leaf: object({ name: text(12), child: { type: 'null' } }) } },
  list(text(16), 5, { minItems: 2 }),
  list({ type: 'number', minimum: 0, maximum: 1 }, 6, { minItems: 1 }),
  {
    type: 'array',
    prefixItems: [text(10), { type: 'integer', minimum: 0, maximum: 9 }, { type: 'boolean' }],
    items: false,
    minItems: 3,
    maxItems: 3,
  },
  object({ question: text(60), answer: text(60), sure: { type: 'number', minimum: 0, maximum: 1 } }),
  object(
    { first: text(16), middle: { type: ['string', 'null'], maxLength: 10 }, last: text(16) },
    { required: ['first', 'last'] },
  ),
  object({ matrix: list(list({ type: 'integer', minimum: -9, maximum: 9 }, 3, { minItems: 3 }), 3, { minItems: 3 }) }),
  object({
    price: { type: 'number', minimum: 0, maximum: 999.99 },
    currency: { enum: ['EUR', 'USD', 'CHF'] },
    paid: { type: 'boolean' },
  }),
  object({
    when: { type: 'string', format: 'date-time' },
    where: object({ street: text(24), number: { type: 'integer', minimum: 1, maximum: 400 } }),
  }),
  { type: 'object', additionalProperties: { type: 'integer', minimum: 0, maximum: 100 }, maxProperties: 4 },
  object({
    steps: list(object({ do: text(30), minutes: { type: 'integer', minimum: 1, maximum: 90 } }), 3, { minItems: 1 }),
    done: { const: false },
  }),
];
const PROMPTS = [
  'Tell me about Anna.',
  'What do you know about Paris?',
  'Make something up.',
  'What is 2 + 3?',
  'Describe your day.',
  'Hello!',
  'List three things.',
  'Ich habe eine Frage.',
  'Please answer as JSON.',
  'Write about a dog named "Bo" and a \\ sign.',
];
const MOST_TOKENS = 400;

export default async function structuredOutput([perSchema = '10', threads = '2']) {
  const service = await startService({ env: { LMSP_THREADS: threads } });
  const models = ['pocket'];
  try {
    const folder = process.env.LMSP_TEST_MODELS;
    if (folder) models.push(await register(service, join(folder, 'smollm2-135m-instruct')));
    const found = {};
    for (const model of models)
      found[model] = { ...(await validity(service, model, Number(perSchema))), ...(await cost(service, model)) };
    console.table(found);
    return found;
  } finally {
    await service.stop();
    await service.remove();
  }
}

async function register(service, path) {
  await service.call('POST', '/v1/models', { id: 'smollm2', type: 'llm', source: { type: 'directory', path } });
  await eventually(async () => {
    const { lmsp } = JSON.parse((await service.call('GET', '/v1/models/smollm2')).body);
    if (lmsp.state !== 'available') throw new Error(lmsp.state);
  });
  return 'smollm2';
}

async function validity(service, model, perSchema) {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  const counts = { answers: 0, completed: 0, valid: 0, incomplete: 0 };
  await inParallel(SCHEMAS.length * perSchema, 8, async (i) => {
    const schema = SCHEMAS[i % SCHEMAS.length];
    const round = Math.floor(i / SCHEMAS.length);
    const request = {
      model,
      input: PROMPTS[round % PROMPTS.length],
      temperature: round % 2,
      seed: i,
      max_output_tokens: MOST_TOKENS,
      text: { format: { type: 'json_schema', name: `schema_${i % SCHEMAS.length}`, schema } },
    };
    const { status, body } = await service.call('POST', '/v1/responses', request);
    if (status !== 200) throw new Error(`schema ${i % SCHEMAS.length}: ${status} ${body}`);
    const response = JSON.parse(body);
    counts.answers += 1;
    if (response.status === 'incomplete') counts.incomplete += 1;
    if (response.status !== 'completed') return;
    counts.completed += 1;
    const answer = response.output[0].content[0].text;
    if (ajv.validate(schema, JSON.parse(answer))) counts.valid += 1;
    else console.log(`schema ${i % SCHEMAS.length}: ${answer}`);
  });
  return counts;
}

/** Milliseconds per token behind the first, of lone streams by turns; the median of some. */
async function cost(service, model) {
  const format = {
    type: 'json_schema',
    name: 'long',
    schema: object({ words: list(text(200), 20, { minItems: 20 }) }),
  };
  const [free, held] = [[], []];
  await perToken(service, { model, text: { format } });
  for (let round = 0; round < 5; round++) {
    free.push(await perToken(service, { model }));
    held.push(await perToken(service, { model, text: { format } }));
  }
  const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  const [plain, constrained] = [median(free), median(held)];
  return { free_ms: round3(plain), held_ms: round3(constrained), ratio: round3(constrained / plain) };
}

async function perToken(service, fields) {
  const ends = Object.fromEntries([0, 1, 2].map((id) => [id, -100]));
  const request = {
    input: 'Write.',
    stream: true,
    temperature: 1,
    seed: 1,
    max_output_tokens: 120,
    logit_bias: ends,
    ...fields,
  };
  const response = await fetch(`${service.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
  const decoder = new TextDecoder();
  let first = 0;
  let all = '';
  for await (const chunk of response.body) {
    all += decoder.decode(chunk, { stream: true });
    if (first === 0 && all.includes('output_text.delta')) first = performance.now();
  }
  const last = performance.now();
  const { response: ended } = JSON.parse(all.slice(all.lastIndexOf('data: {') + 6).split('\n')[0]);
  return (last - first) / (ended.usage.output_tokens - 1);
}

function round3(value) {
  return Math.round(value * 1000) / 1000;
}
