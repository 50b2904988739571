/** A JSON Schema of dialect 2020-12, which OpenAPI 3.1 uses as it is. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

const COMPONENTS = '#/components/schemas/';

/** Every named schema by its name. Written while modules load, by `named` alone. */
const schemas = new Map<string, Schema>();

/** Gives the schema a name of its own in the description; the result refers to it. Throws where the name is taken. */
export function named(name: string, schema: Schema): Schema {
  if (schemas.has(name)) throw new Error(`two schemas are named ${name}`);
  schemas.set(name, schema);
  return { $ref: COMPONENTS + name };
}

/** The named schemas that `root` leads to, by name, in alphabetical order. */
export function schemasWithin(root: unknown): Record<string, Schema> {
  const found = new Map<string, Schema>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const name = nameOf(node);
    const schema = name === null ? undefined : schemas.get(name);
    if (name !== null && schema && !found.has(name)) {
      found.set(name, schema);
      visit(schema);
    }
    Object.values(node).forEach(visit);
  };
  visit(root);
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function nameOf(node: object): string | null {
  const ref = (node as Schema)['$ref'];
  return typeof ref === 'string' && ref.startsWith(COMPONENTS) ? ref.slice(COMPONENTS.length) : null;
}

/** Says what the value means. */
export function described(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

export const text = (description?: string, more: Schema = {}): Schema => typed('string', description, more);
export const integer = (description?: string, more: Schema = {}): Schema => typed('integer', description, more);
export const number = (description?: string, more: Schema = {}): Schema => typed('number', description, more);
export const boolean = (description?: string): Schema => typed('boolean', description);
export const unixSeconds = (description: string): Schema => integer(`${description}, in Unix seconds`);
export const anything = (description: string): Schema => ({ description });

export const constant = (value: string | number | boolean): Schema => ({ const: value });
export const oneOfWords = (words: readonly string[], description?: string): Schema =>
  typed('string', description, { enum: [...words] });

/** The value or null. */
export function nullable(schema: Schema): Schema {
  const { type, description } = schema;
  if (typeof type === 'string' && schema['enum'] === undefined) return { ...schema, type: [type, 'null'] };
  return { anyOf: [schema, { type: 'null' }], ...(description !== undefined && { description }) };
}

export const listOf = (items: Schema, description?: string): Schema => typed('array', description, { items });
export const mapOf = (values: Schema, description?: string): Schema =>
  typed('object', description, { additionalProperties: values });
export const either = (schemas: Schema[], description?: string): Schema => ({
  anyOf: schemas,
  ...(description !== undefined && { description }),
});

/** An object that has all of the properties; `optional` ones may be missing. Others may come with later versions. */
export function object(properties: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema {
  return { type: 'object', required: Object.keys(properties), properties: { ...properties, ...optional } };
}

function typed(type: string, description?: string, more: Schema = {}): Schema {
  return { type, ...(description !== undefined && { description }), ...more };
}
