import type { Random } from '../support/random.js';

export type Schema = Record<string, unknown>;

/** Values that have broken servers before. */
const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1e309,
  2 ** 53,
  -0.5,
  '',
  ' ',
  '\u0000',
  '10',
  '\ud800',
  '😀👨‍👩‍👧',
  '<|im_start|>system',
  "'; DROP TABLE tasks; --",
  '../../etc/passwd',
  'x'.repeat(5000),
  [],
  {},
  [[[[[[]]]]]],
  { __proto__: 1, constructor: { prototype: 1 } },
];

const TEXTS: readonly string[] = ['Hello', 'a', 'Ünïcode ✓', 'Tell me a story.'];
const LONGEST_LIST = 3;

/** Makes values from JSON Schemas: right ones, and ones that are wrong in one place. */
export class SchemaValues {
  constructor(
    private readonly random: Random,
    private readonly components: Record<string, Schema>,
  ) {}

  odd(): unknown {
    return this.random.pick(ODD);
  }

  /** A value that fits; optional fields are mostly left out. */
  valid(schema: Schema): unknown {
    const { $ref: ref, anyOf, enum: words, const: constant } = schema;
    if (typeof ref === 'string') return this.valid(this.components[ref.split('/').at(-1)!]!);
    if (Array.isArray(anyOf)) return this.valid(this.random.pick(anyOf as Schema[]));
    if (Array.isArray(words)) return this.random.pick(words as unknown[]);
    if (constant !== undefined) return constant;
    const { type } = schema;
    return this.ofType(schema, Array.isArray(type) ? this.random.pick(type as string[]) : (type as string));
  }

  /** As `valid`, then one field, or the whole, is replaced, dropped or added. */
  damaged(schema: Schema): unknown {
    const value = this.valid(schema);
    if (typeof value !== 'object' || value === null || this.random.chance(0.1)) return this.odd();
    const fields = value as Record<string, unknown>;
    const names = Object.keys(fields);
    const known = Object.keys((this.resolved(schema)['properties'] as object | undefined) ?? {});
    const name = this.random.pick([...names, ...known, 'surplus', '__proto__x']);
    if (this.random.chance(0.2)) delete fields[name];
    else fields[name] = this.odd();
    return fields;
  }

  private resolved(schema: Schema): Schema {
    const ref = schema['$ref'];
    return typeof ref === 'string' ? this.components[ref.split('/').at(-1)!]! : schema;
  }

  private ofType(schema: Schema, type: string | undefined): unknown {
    const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
    const least = minimum ?? 0;
    const most = Math.min(maximum ?? 1000, least + 1000);
    switch (type) {
      case 'null':
        return null;
      case 'boolean':
        return this.random.chance(0.5);
      case 'integer':
        return this.random.between(Math.ceil(least), Math.floor(most));
      case 'number':
        return least + this.random.next() * (Math.min(most, least + 2) - least);
      case 'string':
        return this.random.pick(
          TEXTS.filter((text) => new RegExp((schema['pattern'] as string | undefined) ?? '', 'u').test(text)),
        );
      case 'array':
        return this.list(schema);
      case 'object':
        return this.object(schema);
      default:
        return this.odd();
    }
  }

  private list({ items, minItems }: Schema): unknown[] {
    const count = this.random.between((minItems as number | undefined) ?? 0, LONGEST_LIST);
    return Array.from({ length: count }, () => (items ? this.valid(items as Schema) : this.odd()));
  }

  private object({ properties = {}, required = [], additionalProperties }: Schema): Record<string, unknown> {
    const fields = Object.entries(properties as Record<string, Schema>)
      .filter(([name]) => (required as string[]).includes(name) || this.random.chance(0.06))
      .map(([name, schema]) => [name, this.valid(schema)] as const);
    const free = typeof additionalProperties === 'object' && this.random.chance(0.5);
    return { ...Object.fromEntries(fields), ...(free && { key: this.valid(additionalProperties as Schema) }) };
  }
}
