import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { DomainError } from '../errors/index.js';

type Fields = Record<string, PipeTransform<unknown, unknown>>;
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
}

function named(metadata: ArgumentMetadata): string {
  return metadata.data ?? '';
}

/** Query parameter: a whole number within bounds; absent: the fallback. */
export class WholeNumber implements PipeTransform<unknown, number> {
  constructor(private readonly range: { min: number; max: number; fallback: number }) {}

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
export class OneOf<const T extends string> implements PipeTransform<unknown, T> {
  constructor(
    private readonly words: readonly T[],
    private readonly fallback: T,
  ) {}

  transform(value: unknown, metadata: ArgumentMetadata): T {
    if (value === undefined) return this.fallback;
    const word = this.words.find((each) => each === value);
    if (word !== undefined) return word;
    const param = named(metadata);
    throw new DomainError('invalid_value', `'${param}' must be one of ${this.words.join(', ')}.`, { param });
  }
}

/** Query parameter: words of a closed list, with commas between them; absent: null. */
export class ListOf<const T extends string> implements PipeTransform<unknown, T[] | null> {
  constructor(private readonly words: readonly T[]) {}

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
export class SingleText implements PipeTransform<unknown, string | null> {
  transform(value: unknown, metadata: ArgumentMetadata): string | null {
    if (value === undefined) return null;
    if (typeof value === 'string' && value !== '') return value;
    const param = named(metadata);
    throw new DomainError('invalid_value', `'${param}' must be given once and not be empty.`, { param });
  }
}

/** Query parameter: the cursor of an event log; absent: -1, the whole log. */
export class Cursor implements PipeTransform<unknown, number> {
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
