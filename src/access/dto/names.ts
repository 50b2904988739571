import { applyDecorators } from '@nestjs/common';
import { isScope, SCOPES } from '../../clients/index.js';
import { Rule } from '../../http/index.js';
import { listOf, Meaning, oneOfWords, text } from '../../openapi/index.js';

/** Longest life of a token that ends by itself. */
export const LONGEST_LIFE_SECONDS = 100 * 366 * 86_400;

/** People read names in terminals and pages: nothing that writes over what stands beside it. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u.test(value);
}

export const IsName = (): PropertyDecorator =>
  applyDecorators(
    Rule('isName', 'must be a text of 1 to 64 characters, none of them invisible', isName),
    Meaning('What people call it', text(undefined, { minLength: 1, maxLength: 64 })),
  );

export const IsScopes = (): PropertyDecorator =>
  applyDecorators(
    Rule('isScopes', 'must be a list of scopes, each once', isListOfScopes),
    Meaning('What it may do; never more than its maker may', {
      ...listOf(oneOfWords(SCOPES)),
      minItems: 1,
      uniqueItems: true,
    }),
  );

function isListOfScopes(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => typeof each === 'string' && isScope(each)) &&
    new Set(value).size === value.length
  );
}
