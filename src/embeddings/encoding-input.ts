import { DomainError } from '../errors/index.js';
import { MOST_TEXTS } from './dto/create-embedding.dto.js';

/** Texts of a request with the names that errors call them by. */
export interface NamedTexts {
  texts: string[];
  /** Of the text at this index: `input`, `documents[3]`. */
  param(index: number): string;
}

/** Throws DomainError, naming the element: invalid_type, invalid_value. */
export function textsOf(field: string, value: string | readonly unknown[]): NamedTexts {
  const list = typeof value === 'string' ? [value] : value;
  const param = (index: number): string => (typeof value === 'string' ? field : `${field}[${index}]`);
  if (list.length === 0 || list.length > MOST_TEXTS) {
    const message = `'${field}' must have from 1 to ${MOST_TEXTS} texts; it has ${list.length}.`;
    throw new DomainError('invalid_value', message, { param: field });
  }
  const texts = list.map((text, index) => {
    if (typeof text !== 'string') throw wrong('invalid_type', param(index), 'must be a string');
    if (text === '') throw wrong('invalid_value', param(index), 'must not be empty');
    return text;
  });
  return { texts, param };
}

function wrong(code: 'invalid_type' | 'invalid_value', param: string, what: string): DomainError {
  return new DomainError(code, `'${param}' ${what}.`, { param });
}
