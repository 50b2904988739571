import { getMetadataStorage } from 'class-validator';
import { either, named, type Schema } from './schema.js';

type DtoClass = new () => object;

/** The classes of a DTO's nested properties, by property name; given by whoever validates them. `all`: any of them. */
export type NestedClasses = (prototype: object) => ReadonlyMap<string, DtoClass | { all: readonly DtoClass[] }>;

const MEANING = Symbol('meaning');

/** What the field of a request means, for the description of the API; `schema` replaces what the validators tell. */
export function Meaning(description: string, schema?: Schema): PropertyDecorator {
  return (prototype, property) => Reflect.defineMetadata(MEANING, { description, schema }, prototype, property);
}

interface FieldMeaning {
  description: string;
  schema?: Schema;
}

interface Validation {
  name?: string;
  type: string;
  constraints?: unknown[];
  each?: boolean;
}

/** What a validator of class-validator, or a rule of ours, says of the value. Rules without a word here add nothing. */
const KEYWORDS: Record<string, (constraints: unknown[]) => Schema> = {
  isString: () => ({ type: 'string' }),
  isBoolean: () => ({ type: 'boolean' }),
  isNumber: () => ({ type: 'number' }),
  isInt: () => ({ type: 'integer' }),
  isObject: () => ({ type: 'object' }),
  isArray: () => ({ type: 'array' }),
  isNotEmpty: () => ({ minLength: 1 }),
  maxLength: ([most]) => ({ maxLength: most }),
  min: ([least]) => ({ minimum: least }),
  max: ([most]) => ({ maximum: most }),
  arrayMaxSize: ([most]) => ({ maxItems: most }),
  isIn: ([words]) => ({ enum: words }),
  isTextOrList: () => ({ type: ['string', 'array'] }),
  unsupported: () => ({ description: 'Not supported: leave it out' }),
};

/** The schemas of the classes seen so far. */
const known = new Map<DtoClass, Schema>();

/** The class's schema under its own name: `CreateResponseDto` is `CreateResponse` in the description. */
export function schemaOfDto(dto: DtoClass, nestedOf: NestedClasses): Schema {
  const before = known.get(dto);
  if (before) return before;
  const schema = named(dto.name.replace(/Dto$/, ''), fieldsOfDto(dto, nestedOf));
  known.set(dto, schema);
  return schema;
}

function schemaOfNested(child: DtoClass | { all: readonly DtoClass[] }, nestedOf: NestedClasses): Schema {
  return 'all' in child ? either(child.all.map((each) => schemaOfDto(each, nestedOf))) : schemaOfDto(child, nestedOf);
}

/**
 * The JSON Schema of a request body, from the very decorators that validate it (WIRE B9: what they refuse is a 400).
 * An optional field may be null as well. Fields that ask for nothing here carry no type.
 */
function fieldsOfDto(dto: DtoClass, nestedOf: NestedClasses): Schema {
  const prototype = dto.prototype as object;
  const fields = validationsOf(dto);
  const nested = nestedOf(prototype);
  const properties = [...fields].map(([field, validations]): [string, Schema] => {
    const child = nested.get(field);
    const schema = fieldSchema(validations, child && schemaOfNested(child, nestedOf));
    const meaning = Reflect.getMetadata(MEANING, prototype, field) as FieldMeaning | undefined;
    const told = meaning?.schema ?? (isOptional(validations) ? withNull(schema) : schema);
    return [field, { ...told, ...(meaning && { description: meaning.description }) }];
  });
  const required = [...fields].filter(([, validations]) => !isOptional(validations)).map(([field]) => field);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties),
  };
}

/** In the order in which the class states its fields. */
function validationsOf(dto: DtoClass): Map<string, Validation[]> {
  const fields = new Map<string, Validation[]>();
  for (const each of getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false)) {
    const { propertyName, name, type, constraints } = each;
    const others = fields.get(propertyName) ?? [];
    fields.set(propertyName, [...others, { ...(name !== undefined && { name }), type, constraints, each: each.each }]);
  }
  return fields;
}

const nameOf = ({ name, type }: Validation): string => name ?? type;
/** Marks of fields that may be absent. */
const OPTIONAL = ['isOptional', 'unsupported'];
const isOptional = (validations: Validation[]): boolean => validations.some((each) => OPTIONAL.includes(nameOf(each)));

function fieldSchema(validations: Validation[], child: Schema | undefined): Schema {
  const own: Schema = {};
  const items: Schema = {};
  for (const each of validations) {
    const told = KEYWORDS[nameOf(each)]?.(each.constraints ?? []);
    Object.assign(each.each ? items : own, told);
  }
  if (Object.keys(items).length > 0) Object.assign(own, { items });
  if (!child) return own;
  if (Array.isArray(own['type'])) {
    return either([
      { ...own, type: 'string' },
      { type: 'array', items: child },
    ]);
  }
  return own['type'] === 'array' ? { ...own, items: child } : child;
}

function withNull(schema: Schema): Schema {
  const { type } = schema;
  if (['enum', 'anyOf', '$ref'].some((keyword) => keyword in schema)) return either([schema, { type: 'null' }]);
  if (type === undefined) return schema;
  return { ...schema, type: [...(Array.isArray(type) ? (type as unknown[]) : [type]), 'null'] };
}
