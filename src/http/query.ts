import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { DomainError } from '../errors/index.js';
import { integer, oneOfWords, text, type Schema } from '../openapi/index.js';

/** A query parameter: how it is read, and how the description of the API tells of it. */
interface QueryField<T = unknown> extends PipeTransform<unknown, T> {
  readonly schema: Schema;
}

type Fields = Record<string, QueryField>;
export type QueryOf<F extends Fields> = { [Name in keyof F]: ReturnType<F[Name]['transform']> };

/** The query parameters of a route, each by its own pipe; others are ignored. */
export class QueryFields<F extends Fields> implements PipeTransform<Record<string, unknown>, QueryOf<F>> {
  constructor(private readonly fields: F) {}

  transform(query: Record<string, unknown>): QueryOf<F> {
    const read = Object.entries(this.fields).map(([data, pipe]) => [
      data,
      pipe.transform(query[data], { type: 'query', data }),
    ]);
    return Object.fromEntries(read) as QueryOf<F>;
  }

  /** For the description of the API. */
  get schemas(): Record<string, Schema> {
    return Object.fromEntries(Object.entries(this.fields).map(([name, { schema }]) => [name, schema]));
  }
}

function named(metadata: ArgumentMetadata): string {
  return metadata.data ?? '';
}

/** Query parameter: a whole number within bounds; absent: the fallback. */
export class WholeNumber implements QueryField<number> {
  readonly schema: Schema;

  constructor(private readonly range: { min: number; max: number; fallback: number }) {
    this.schema = integer(undefined, { minimum: range.min, maximum: range.max, default: range.fallback });
  }

  transform(value: unknown, metadata: ArgumentMetadata): number {
    const { min, max, fallback } = this.range;
    if (value === undefined) return fallback;
    const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : NaN;
    if (number >= min && number <= max) return number;
    const param = named(metadata);
    throw new DomainError('invalid_value', `'${param}' must be a whole number from ${min} to ${max}.`, { param });
  }
}

/** Query parameter: one word of a closed list; absent: the fallback. */
export class OneOf<const T extends string> implements QueryField<T> {
  readonly schema: Schema;

  constructor(
    private readonly words: readonly T[],
    private readonly fallback: T,
  ) {
    this.schema = { ...oneOfWords(words), default: fallback };
  }

  transform(value: unknown, metadata: ArgumentMetadata): T {
    if (value === undefined) return this.fallback;
    const word = this.words.find((each) => each === value);
    if (word !== undefined) return word;
    const param = named(metadata);
    throw new DomainError('invalid_value', `'${param}' must be one of ${this.words.join(', ')}.`, { param });
  }
}

/** Query parameter: words of a closed list, with commas between them; absent: null. */
export class ListOf<const T extends string> implements QueryField<T[] | null> {
  readonly schema: Schema;

  constructor(private readonly words: readonly T[]) {
    this.schema = text(`With commas between them: ${words.join(', ')}`);
  }

  transform(value: unknown, metadata: ArgumentMetadata): T[] | null {
    if (value === undefined) return null;
    const param = named(metadata);
    const refuse = (): never => {
      const known = this.words.join(', ');
      throw new DomainError('invalid_value', `'${param}' must be a comma list out of ${known}.`, { param });
    };
    if (typeof value !== 'string') return refuse();
    return value.split(',').map((part) => this.words.find((word) => word === part.trim()) ?? refuse());
  }
}

/** Query parameter: a text given once; absent: null. */
export class SingleText implements QueryField<string | null> {
  readonly schema: Schema;

  /** @param meaning for the description of the API */
  constructor(meaning?: string) {
    this.schema = text(meaning, { minLength: 1 });
  }

  transform(value: unknown, metadata: ArgumentMetadata): string | null {
    if (value === undefined) return null;
    if (typeof value === 'string' && value !== '') return value;
    const param = named(metadata);
    throw new DomainError('invalid_value', `'${param}' must be given once and not be empty.`, { param });
  }
}

/** Query parameter: the cursor of an event log; absent: -1, the whole log. */
export class Cursor implements QueryField<number> {
  readonly schema = integer('Sequence number of the last event that is known; -1: none', { minimum: -1, default: -1 });

  transform(value: unknown, metadata: ArgumentMetadata): number {
    return value === undefined ? -1 : parseCursor(value, named(metadata));
  }
}

/** A sequence number, or -1 for "from the beginning" (WIRE B5). Throws invalid_cursor: junk never means the start. */
export function parseCursor(value: unknown, param: string): number {
  const number = typeof value === 'string' && /^(-1|\d{1,16})$/.test(value) ? Number(value) : NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new DomainError('invalid_cursor', `'${param}' must be a sequence number, or -1 for the whole log.`, { param });
}

/** The parameters of every list (WIRE B2): how many, in which order, and behind which one. */
export function pageFields(item: string, { max = 100, fallback = 20 }: { max?: number; fallback?: number } = {}) {
  return {
    limit: new WholeNumber({ min: 1, max, fallback }),
    order: new OneOf(['desc', 'asc'], 'desc'),
    after: new SingleText(`Id of the last ${item} of the page before`),
  };
}
