import { MOST_DECIMALS } from './json-text.js';
import { isObject, type Json, type SchemaReader } from './schema-reader.js';
import { SchemaRefusal } from './schema-refusal.js';

export const TYPES = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'] as const;
export type Type = (typeof TYPES)[number];

/** Keywords that speak of one type only. */
const SPEAKS_OF: Record<string, Type> = {
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  minProperties: 'object',
  maxProperties: 'object',
  items: 'array',
  prefixItems: 'array',
  minItems: 'array',
  maxItems: 'array',
  minLength: 'string',
  maxLength: 'string',
  pattern: 'string',
  format: 'string',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
};

/** The types that values are written of; null: any. Where none is named, those that the other keywords speak of. */
export function typesOf(reader: SchemaReader): Type[] | null {
  const stated = reader.any('type');
  if (stated !== undefined) {
    const types = [stated].flat() as Type[];
    if (types.length > 0 && types.every((type) => TYPES.includes(type))) return [...new Set(types)];
    throw reader.invalid('type', `must be of ${TYPES.join(', ')}`);
  }
  const spoken = Object.keys(SPEAKS_OF).filter((keyword) => reader.has(keyword));
  const types = new Set(spoken.map((keyword) => SPEAKS_OF[keyword] ?? 'object'));
  return types.size === 0 ? null : [...types];
}

/** An entry of a choice whose schema names the types already. */
export function withType(schema: unknown, types: Type[] | null, path: string): unknown {
  if (types === null || !isObject(schema) || schema['$ref'] !== undefined) return schema;
  if (schema['type'] === undefined) return { ...schema, type: types };
  const own = [schema['type']].flat() as Type[];
  if (own.every((type) => types.includes(type) || (type === 'integer' && types.includes('number')))) return schema;
  throw new SchemaRefusal(`${path}/type`, 'must be among the types that stand beside the choice');
}

export function isOf(value: unknown, type: Type): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Decimals that a step allows; null: a step that is no power of ten. */
export function decimalsOf(step: number | null): number | null {
  if (step === null) return MOST_DECIMALS;
  const decimals = [1, 0.1, 0.01, 0.001, 0.0001, 0.00001, 0.000001].indexOf(step);
  return decimals < 0 ? null : decimals;
}

/** What a JSON pointer (RFC 6901) of a reference names; undefined: nothing. */
export function resolve(root: unknown, pointer: string): unknown {
  if (pointer === '') return root;
  if (!pointer.startsWith('/')) return undefined;
  let place = root;
  for (const part of decodeURIComponent(pointer).slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const holder: Json = Array.isArray(place) || isObject(place) ? (place as Json) : {};
    place = Object.hasOwn(holder, key) ? holder[key] : undefined;
  }
  return place;
}

/** Whether no value can be valid by two of the schemas: then one of them is any of them. */
export function apart(schemas: unknown[], root: unknown): boolean {
  const followed = schemas.map((schema) => follow(schema, root));
  return followed.every((one, i) => followed.slice(i + 1).every((other) => differ(one, other, root)));
}

function follow(schema: unknown, root: unknown): Json {
  let place = schema;
  for (let steps = 0; steps < 32 && isObject(place) && typeof place['$ref'] === 'string'; steps++) {
    place = resolve(root, place['$ref'].slice(1));
  }
  return isObject(place) ? place : {};
}

function differ(one: Json, other: Json, root: unknown): boolean {
  if (apartConstants(one, other)) return true;
  const [ownTypes, otherTypes] = [stated(one), stated(other)];
  if (ownTypes && otherTypes && !ownTypes.some((type) => otherTypes.includes(type))) return true;
  const names = [one['required']].flat().filter((name) => [other['required']].flat().includes(name));
  const property = (schema: Json, name: unknown): Json =>
    follow(isObject(schema['properties']) ? schema['properties'][String(name)] : {}, root);
  const bothObjects = ownTypes?.join() === 'object' && otherTypes?.join() === 'object';
  return bothObjects && names.some((name) => apartConstants(property(one, name), property(other, name)));
}

function apartConstants(one: Json, other: Json): boolean {
  const [left, right] = [constantsOf(one), constantsOf(other)];
  return left !== null && right !== null && !left.some((value) => right.includes(value));
}

/** As JSON texts; null: the schema names none. */
function constantsOf(schema: Json): string[] | null {
  if (schema['const'] !== undefined) return [JSON.stringify(schema['const'])];
  const { enum: values } = schema;
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : null;
}

/** Integers are numbers. */
function stated(schema: Json): Type[] | null {
  if (schema['type'] === undefined) return null;
  return ([schema['type']].flat() as Type[]).map((type) => (type === 'integer' ? 'number' : type));
}
