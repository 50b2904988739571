import { SchemaRefusal } from './schema-refusal.js';

export type Json = Record<string, unknown>;

/** Say nothing about which values are valid. */
const ANNOTATIONS = [
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'example',
  'deprecated',
  'readOnly',
  'writeOnly',
  'discriminator',
  'contentMediaType',
  'contentEncoding',
];

/** One schema object with the place it stands at: reads keywords with their types, and knows which were looked at. */
export class SchemaReader {
  private readonly left: Set<string>;

  constructor(
    readonly schema: Json,
    readonly path: string,
  ) {
    this.left = new Set(Object.keys(schema).filter((key) => !ANNOTATIONS.includes(key) && schema[key] !== undefined));
  }

  has(keyword: string): boolean {
    return this.schema[keyword] !== undefined;
  }

  /** The keyword's value as it is. */
  any(keyword: string): unknown {
    this.left.delete(keyword);
    return this.schema[keyword];
  }

  number(keyword: string): number | null {
    const value = this.any(keyword);
    if (value === undefined) return null;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw this.invalid(keyword, 'must be a number');
  }

  /** A count: null where there is none. */
  count(keyword: string): number | null {
    const value = this.number(keyword);
    if (value === null || (Number.isSafeInteger(value) && value >= 0)) return value;
    throw this.invalid(keyword, 'must be an integer that is not negative');
  }

  text(keyword: string): string | null {
    const value = this.any(keyword);
    if (value === undefined || typeof value === 'string') return value ?? null;
    throw this.invalid(keyword, 'must be a string');
  }

  list(keyword: string): unknown[] | null {
    const value = this.any(keyword);
    if (value === undefined) return null;
    if (Array.isArray(value)) return value as unknown[];
    throw this.invalid(keyword, 'must be an array');
  }

  object(keyword: string): Json | null {
    const value = this.any(keyword);
    if (value === undefined) return null;
    if (isObject(value)) return value;
    throw this.invalid(keyword, 'must be an object');
  }

  /** Refuses keywords that nobody has asked for: what is not enforced must not be promised. */
  finish(): void {
    const [keyword] = this.left;
    if (keyword !== undefined) throw this.unsupported(keyword);
  }

  unsupported(keyword: string, rule = 'cannot be enforced here; leave it out'): SchemaRefusal {
    return new SchemaRefusal(`${this.path}/${keyword}`, rule);
  }

  invalid(keyword: string, rule: string): SchemaRefusal {
    return new SchemaRefusal(`${this.path}/${keyword}`, rule, true);
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
