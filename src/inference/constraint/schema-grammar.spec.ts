import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { uniform } from '../generation/random.js';
import type { Expression } from './expression.js';
import { Expressions } from './expressions.js';
import { SchemaGrammar } from './schema-grammar.js';
import { SchemaRefusal } from './schema-refusal.js';

const REACH = 16;

function grammarOf(schema: unknown): { make: Expressions; start: Expression } {
  const make = new Expressions(REACH);
  return { make, start: new SchemaGrammar(make).value(schema) };
}

/** A text that the expression allows, its bytes drawn at random; null: none within a bound. */
function draw(make: Expressions, start: Expression, seed: number): string | null {
  const bytes: number[] = [];
  let state = start;
  for (let step = 0; step < 4000; step++) {
    make.newToken();
    const allowed: number[] = [];
    for (let byte = 0; byte < 256; byte++) if (state.after(byte) !== make.nothing) allowed.push(byte);
    // Behind some length the way out is taken where there is one: quotes and closing brackets.
    const out = allowed.filter((byte) => '"]}'.includes(String.fromCharCode(byte)));
    const pool = step > 60 && out.length > 0 ? out : allowed;
    if (state.nullable && (allowed.length === 0 || uniform(seed, step) < 0.3))
      return Buffer.from(bytes).toString('utf8');
    if (pool.length === 0) throw new Error(`a dead end behind ${Buffer.from(bytes).toString('utf8')}`);
    const byte = pool[Math.floor(uniform(seed + 1, step) * pool.length)] ?? 0;
    bytes.push(byte);
    state = state.after(byte);
  }
  return null;
}

function allows({ make, start }: { make: Expressions; start: Expression }, text: string): boolean {
  let state = start;
  for (const byte of Buffer.from(text, 'utf8')) {
    make.newToken();
    state = state.after(byte);
  }
  return state.nullable;
}

const PERSON = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 20 },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    tags: { type: 'array', items: { enum: ['a', 'b"c', 'ü'] }, minItems: 1, maxItems: 3 },
    note: { type: ['string', 'null'], maxLength: 5 },
  },
  required: ['name', 'tags'],
  additionalProperties: false,
};

const SCHEMAS: [string, Record<string, unknown>][] = [
  ['an object', PERSON],
  ['any object', { type: 'object' }],
  [
    'a map of numbers',
    { type: 'object', additionalProperties: { type: 'number' }, minProperties: 1, maxProperties: 4 },
  ],
  ['anything', {}],
  ['integers within a range', { type: 'integer', minimum: -17, maximum: 3050 }],
  ['integers above', { type: 'integer', exclusiveMinimum: 99 }],
  ['numbers within a range', { type: 'number', minimum: 1.5, maximum: 9.25 }],
  ['numbers around zero, ends left out', { type: 'number', exclusiveMinimum: -0.75, exclusiveMaximum: 0.05 }],
  ['numbers below', { type: 'number', maximum: -3.14 }],
  ['amounts', { type: 'number', multipleOf: 0.01, minimum: 0.5, maximum: 1000 }],
  ['a choice', { anyOf: [{ type: 'number' }, { type: 'null' }, { const: { a: [1, true] } }] }],
  [
    'one of two kinds',
    {
      oneOf: [
        { type: 'object', properties: { kind: { const: 'a' }, x: { type: 'integer' } }, required: ['kind', 'x'] },
        { type: 'object', properties: { kind: { const: 'b' }, y: { type: 'boolean' } }, required: ['kind', 'y'] },
      ],
    },
  ],
  [
    'a tuple',
    {
      type: 'array',
      prefixItems: [{ type: 'string' }, { type: 'boolean' }],
      items: { type: 'null' },
      minItems: 2,
      maxItems: 4,
    },
  ],
  ['a closed tuple', { type: 'array', prefixItems: [{ type: 'integer' }], items: false, minItems: 1, maxItems: 1 }],
  ['a pattern', { type: 'string', pattern: '^[A-Z]{2,3}-\\d+(?:\\.\\w{2})?$', maxLength: 12 }],
  ['a pattern somewhere within', { type: 'string', pattern: 'x|"q"|\\\\', minLength: 3, maxLength: 9 }],
  ['classes', { type: 'string', pattern: '^[^a-z\\s]{1,4}[\\u00e4-\\u{1F600}]?$' }],
  [
    'a tree',
    {
      $defs: {
        node: {
          type: 'object',
          properties: { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
          required: ['value', 'next'],
          additionalProperties: false,
        },
      },
      $ref: '#/$defs/node',
    },
  ],
  [
    'itself within',
    { type: 'object', properties: { child: { $ref: '#' }, leaf: { type: 'boolean' } }, required: ['leaf'] },
  ],
  ['allOf with one entry', { allOf: [{ $ref: '#/definitions/a' }], definitions: { a: { enum: [1, 'two', null] } } }],
  ['required without a schema', { type: 'object', properties: { a: { type: 'boolean' } }, required: ['b'] }],
  ...['date', 'time', 'date-time', 'duration', 'uuid', 'ipv4', 'hostname', 'email', 'uri'].map(
    (format): [string, Record<string, unknown>] => [format, { type: 'string', format }],
  ),
];

describe('texts by a schema', () => {
  const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 6 });
  formats.default(ajv);

  it.each(SCHEMAS)('are valid whatever is drawn: %s', (_, schema) => {
    const { make, start } = grammarOf(schema);
    const valid = ajv.compile(schema);
    let whole = 0;
    for (let seed = 1; seed < 120; seed += 2) {
      const text = draw(make, start, seed);
      if (text === null) continue;
      whole += 1;
      expect(valid(JSON.parse(text)), text).toBe(true);
    }
    expect(whole).toBeGreaterThan(40);
  });

  it.each([
    ['{"name":"Ann","tags":["a"]}', true],
    ['{"name": "Ann", "age": 150, "tags": ["a", "ü"], "note": null}', true],
    ['{\n  "name": "\\u00fc",\n  "tags": [\n    "a"\n  ]\n}', true],
    ['{"name":"Ann","age":151,"tags":["a"]}', false],
    ['{"tags":["a"],"name":"Ann"}', false],
    ['{"name":"","tags":["a"]}', false],
    ['{"name":"Ann"}', false],
    ['{"name":"A\tn","tags":["a"]}', false],
    ['{"name":"A\\ud800n","tags":["a"]}', false],
    ['{"name":"Ann","tags":["a"],}', false],
  ])('%j: %s', (text, allowed) => {
    expect(allows(grammarOf(PERSON), text)).toBe(allowed);
  });
});

describe('what cannot be enforced', () => {
  it.each([
    [{ type: 'string', pattern: '(?=a)b' }, '/pattern'],
    [{ type: 'string', pattern: '(a)\\1' }, '/pattern'],
    [{ type: 'string', pattern: '[' }, '/pattern'],
    [{ type: 'string', format: 'iri' }, '/format'],
    [{ type: 'array', items: {}, uniqueItems: true }, '/uniqueItems'],
    [{ type: 'object', patternProperties: { a: {} } }, '/patternProperties'],
    [{ type: 'object', properties: { a: { not: {} } } }, '/properties/a/not'],
    [{ type: 'integer', multipleOf: 7 }, '/multipleOf'],
    [{ allOf: [{ type: 'object' }, { type: 'object' }] }, '/allOf'],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, '/oneOf'],
    [{ $ref: 'https://example.org/a' }, '/$ref'],
    [{ $ref: '#/$defs/none' }, '/$ref'],
    [{ $ref: '#' }, '/$ref'],
    [
      { anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } } },
      '/$defs/a/anyOf/0/$ref',
    ],
    [{ type: 'text' }, '/type'],
    [{ type: 'string', maxLength: -1 }, '/maxLength'],
    [{ type: 'number', minimum: 1e-12 }, '/minimum'],
    [{ type: 'string', minLength: 3, maxLength: 2 }, ''],
    [{ type: 'string', pattern: '^a{5}$', maxLength: 4 }, ''],
    [{ enum: [] }, '/enum'],
    [false, ''],
    [{ type: 'array', items: Array.from({ length: 40 }).reduce((inner) => ({ items: inner }), {}) }, /\/items$/],
  ])('%j is refused, and the place named', (schema, path) => {
    const error = (() => {
      try {
        grammarOf(schema);
        return null;
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(SchemaRefusal);
    if (typeof path === 'string') expect((error as SchemaRefusal).path).toBe(path);
    else expect((error as SchemaRefusal).path).toMatch(path);
  });
});
