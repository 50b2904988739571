import type { Expression } from './expression.js';
import type { Expressions } from './expressions.js';
import { JsonText } from './json-text.js';
import { BoundTooFine, numbersWithin } from './number-range.js';
import { checkSchemaSize } from './schema-limits.js';
import { apart, decimalsOf, isOf, resolve, typesOf, withType, type Type } from './schema-facts.js';
import { isObject, SchemaReader } from './schema-reader.js';
import { SchemaRefusal } from './schema-refusal.js';
import { STRING_FORMATS } from './string-format.js';
import { matching, UnsupportedPattern } from './string-pattern.js';

/** Objects and arrays within one another where the schema leaves open what comes. */
const FREE_DEPTH = 8;
/** Characters of a name that the schema leaves open: nothing else would bound it. */
const LONGEST_FREE_NAME = 64;

/**
 * JSON texts that are valid by a schema (JSON Schema 2020-12), as far as every keyword of it can be enforced: the others
 * are refused. Objects have their properties in the order of the schema; where properties are named, no others come.
 */
export class SchemaGrammar {
  private readonly json: JsonText;
  private root: unknown = true;
  /** What references lead to, by their text. */
  private readonly bodies = new Map<string, Expression>();
  /** References whose targets are being read. */
  private readonly open = new Set<string>();
  /** Those among them that no bracket has been written since. */
  private following = new Set<string>();

  /** `name`: keeps the references of several schemas over one `make` apart. */
  constructor(
    private readonly make: Expressions,
    private readonly name = '',
  ) {
    this.json = new JsonText(make);
  }

  /** Throws SchemaRefusal. */
  value(schema: unknown): Expression {
    checkSchemaSize(schema);
    this.root = schema;
    const expression = this.target('#', schema);
    if (expression === this.make.nothing) throw new SchemaRefusal('', 'allows no value');
    return expression;
  }

  /** Any JSON object, as far down as FREE_DEPTH. */
  anyObject(depth = FREE_DEPTH): Expression {
    const { json } = this;
    const member = json.member(json.text(0, LONGEST_FREE_NAME), this.anything(depth - 1));
    return json.list('{', json.separated(member, 0, depth > 0 ? Infinity : 0), '}');
  }

  private anything(depth = FREE_DEPTH): Expression {
    if (depth < 0) return this.scalar();
    return this.make.rule(`any ${depth}`, () => {
      const array = this.json.list('[', this.json.separated(this.anything(depth - 1), 0, Infinity), ']');
      return this.make.either(this.scalar(), this.anyObject(depth), array);
    });
  }

  private scalar(): Expression {
    const { json, make } = this;
    return make.either(make.literal('null'), json.boolean(), json.number(), json.text());
  }

  private of(schema: unknown, path: string): Expression {
    if (schema === true) return this.anything();
    if (!isObject(schema)) {
      throw new SchemaRefusal(path, schema === false ? 'allows no value' : 'must be a schema', schema !== false);
    }
    const reader = new SchemaReader(schema, path);
    const expression = this.read(reader);
    reader.finish();
    return expression;
  }

  private read(reader: SchemaReader): Expression {
    if (reader.has('$ref')) return this.reference(reader);
    if (reader.has('const')) return this.constants(reader, [reader.any('const')]);
    const values = reader.list('enum');
    if (values) return this.constants(reader, values);
    for (const keyword of ['anyOf', 'oneOf']) if (reader.has(keyword)) return this.choice(reader, keyword);
    const all = reader.list('allOf');
    if (all) {
      if (all.length !== 1) throw reader.unsupported('allOf', 'can have one entry only');
      return this.of(all[0], `${reader.path}/allOf/0`);
    }
    const types = typesOf(reader);
    return types === null ? this.anything() : this.make.either(...types.map((type) => this.typed(reader, type)));
  }

  private typed(reader: SchemaReader, type: Type): Expression {
    switch (type) {
      case 'null':
        return this.make.literal('null');
      case 'boolean':
        return this.json.boolean();
      case 'integer':
      case 'number':
        return this.numbers(reader, type);
      case 'string':
        return this.strings(reader);
      case 'array':
        return this.array(reader);
      case 'object':
        return this.object(reader);
    }
  }

  /** Within the schema only; may lead back to where it stands. */
  private reference(reader: SchemaReader): Expression {
    const name = reader.text('$ref') ?? '';
    const target = name.startsWith('#') ? resolve(this.root, name.slice(1)) : undefined;
    if (target === undefined) throw reader.unsupported('$ref', 'must name a place in this schema, such as #/$defs/a');
    if (this.following.has(name)) throw reader.invalid('$ref', 'leads back to itself');
    if (!this.open.has(name)) this.target(name, target);
    return this.make.rule(`${this.name} ${name}`, () => this.bodies.get(name) ?? this.make.nothing);
  }

  /** Read now, so that what cannot be enforced in it is found at once. */
  private target(name: string, schema: unknown): Expression {
    let body = this.bodies.get(name);
    if (body !== undefined) return body;
    this.open.add(name);
    this.following.add(name);
    body = this.of(schema, name.slice(1));
    this.open.delete(name);
    this.following.delete(name);
    this.bodies.set(name, body);
    return body;
  }

  /** A schema behind a bracket. */
  private inside(schema: unknown, path: string): Expression {
    const { following } = this;
    this.following = new Set();
    const expression = this.of(schema, path);
    this.following = following;
    return expression;
  }

  private constants(reader: SchemaReader, values: unknown[]): Expression {
    if (values.length === 0) throw reader.invalid('enum', 'must not be empty');
    const types = reader.has('type') ? typesOf(reader) : null;
    const fitting = values.filter((value) => types === null || types.some((type) => isOf(value, type)));
    return this.make.either(...fitting.map((value) => this.json.literal(value)));
  }

  private choice(reader: SchemaReader, keyword: string): Expression {
    const schemas = reader.list(keyword) ?? [];
    if (schemas.length === 0) throw reader.invalid(keyword, 'must not be empty');
    if (keyword === 'oneOf' && !apart(schemas, this.root)) {
      throw reader.unsupported(
        keyword,
        'must have entries that differ in type, or in a constant property; or use anyOf',
      );
    }
    const types = reader.has('type') ? typesOf(reader) : null;
    const choices = schemas.map((schema, i) => {
      const path = `${reader.path}/${keyword}/${i}`;
      return this.of(types ? withType(schema, types, path) : schema, path);
    });
    return this.make.either(...choices);
  }

  private numbers(reader: SchemaReader, type: 'integer' | 'number'): Expression {
    const step = reader.number('multipleOf');
    const decimals = type === 'integer' ? 0 : decimalsOf(step);
    if (decimals === null || (type === 'integer' && step !== null && step !== 1)) {
      throw reader.unsupported('multipleOf', 'can be 1, 0.1, 0.01 and so on only');
    }
    const above = reader.number('exclusiveMinimum');
    const below = reader.number('exclusiveMaximum');
    const [minimum, maximum] = [reader.number('minimum'), reader.number('maximum')];
    const least = above !== null && above >= (minimum ?? -Infinity) ? above : minimum;
    const most = below !== null && below <= (maximum ?? Infinity) ? below : maximum;
    if (least === null && most === null) return decimals === 0 ? this.json.integer() : this.json.number(decimals);
    const range = { least, most, aboveLeast: least === above, belowMost: most === below };
    try {
      return numbersWithin(this.json, range, decimals);
    } catch (error) {
      if (!(error instanceof BoundTooFine)) throw error;
      throw reader.unsupported(minimum === null ? 'maximum' : 'minimum', `cannot be enforced: ${error.message}`);
    }
  }

  private strings(reader: SchemaReader): Expression {
    const [least, most] = [reader.count('minLength') ?? 0, reader.count('maxLength') ?? Infinity];
    const format = reader.text('format');
    const known = format === null ? null : STRING_FORMATS[format];
    if (known === undefined) {
      throw reader.unsupported('format', `can be one of ${Object.keys(STRING_FORMATS).join(', ')}`);
    }
    const patterns = [known, reader.text('pattern')].filter((each) => each !== null);
    if (patterns.length === 0) return this.json.text(least, most);
    let inner: Expression;
    try {
      inner = patterns.map((each) => matching(this.make, each)).reduce((a, b) => this.make.both(a, b));
    } catch (error) {
      if (error instanceof UnsupportedPattern) throw reader.unsupported('pattern', error.message);
      throw error;
    }
    if (least > 0 || most < Infinity) inner = this.make.both(inner, this.make.repeat(this.json.character, least, most));
    return inner === this.make.nothing ? inner : this.json.quoted(inner);
  }

  private array(reader: SchemaReader): Expression {
    const { json, make } = this;
    const prefix = (reader.list('prefixItems') ?? []).map((each, i) =>
      this.inside(each, `${reader.path}/prefixItems/${i}`),
    );
    const [least, most] = [reader.count('minItems') ?? 0, reader.count('maxItems') ?? Infinity];
    if (reader.any('uniqueItems') === true) throw reader.unsupported('uniqueItems');
    const items = reader.any('items') ?? true;
    const further = items === false ? null : this.inside(items, `${reader.path}/items`);
    if (prefix.length === 0)
      return json.list('[', json.separated(further ?? make.nothing, least, further ? most : 0), ']');
    if (least < prefix.length || most < prefix.length) {
      throw reader.unsupported('prefixItems', 'needs minItems and maxItems of at least as many');
    }
    const [first = make.nothing, ...others] = prefix;
    const rest = further
      ? make.repeat(make.pair(json.comma(), further), least - prefix.length, most - prefix.length)
      : make.end;
    const tail = others.map((each) => make.pair(json.comma(), each));
    return json.list('[', make.sequence(first, ...tail, rest), ']');
  }

  private object(reader: SchemaReader): Expression {
    const properties = reader.object('properties') ?? {};
    const required = (reader.list('required') ?? []).map(String);
    const others = reader.any('additionalProperties') ?? true;
    const [least, most] = [reader.count('minProperties') ?? 0, reader.count('maxProperties') ?? Infinity];
    const names = [...new Set([...Object.keys(properties), ...required])];
    // No properties, where they are spoken of, are none: a function without arguments.
    const open = reader.has('additionalProperties') || !reader.has('properties');
    if (names.length === 0) return this.map(reader, open ? others : false, least, most);
    if (least > required.length) throw reader.unsupported('minProperties', 'can be as many as are required');
    if (most < names.length) throw reader.unsupported('maxProperties', 'can be no fewer than the properties named');
    const members = names.map((name) => {
      const schema = properties[name] ?? (others === false ? false : others);
      const value = this.inside(schema, `${reader.path}/properties/${name}`);
      return { member: this.json.member(this.json.literal(name), value), needed: required.includes(name) };
    });
    return this.json.list('{', this.inOrder(members), '}');
  }

  /** An object whose names are open. */
  private map(reader: SchemaReader, others: unknown, least: number, most: number): Expression {
    const { json, make } = this;
    if (others === false) return least > 0 ? make.nothing : make.literal('{}');
    const value = this.inside(others, `${reader.path}/additionalProperties`);
    // Two members may get the same name, which would be one.
    if (least > 1) throw reader.unsupported('minProperties', 'can be 0 or 1 where no properties are named');
    return json.list('{', json.separated(json.member(json.text(0, LONGEST_FREE_NAME), value), least, most), '}');
  }

  /** Members in their order, a comma between two that come; those that are not needed may be left out. */
  private inOrder(members: { member: Expression; needed: boolean }[]): Expression {
    const { make, json } = this;
    let behindNone = make.end;
    let behindOne = make.end;
    for (const { member, needed } of [...members].reverse()) {
      const none = make.pair(member, behindOne);
      const one = make.sequence(json.comma(), member, behindOne);
      behindNone = needed ? none : make.either(none, behindNone);
      behindOne = needed ? one : make.either(one, behindOne);
    }
    return behindNone;
  }
}
