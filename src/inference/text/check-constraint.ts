import { DomainError } from '../../errors/index.js';
import { TooComplex } from '../constraint/expression.js';
import { Expressions } from '../constraint/expressions.js';
import { outputGrammar } from '../constraint/output-grammar.js';
import { SchemaRefusal } from '../constraint/schema-refusal.js';
import { tokenBytesOf } from '../constraint/token-bytes.js';
import type { ConstraintJob } from './text-protocol.js';

/** Stands for the reach of any vocabulary: what is allowed does not depend on it. */
const ANY_REACH = 1;

/** Throws DomainError unsupported_value or invalid_value naming the place in the schema. `content`: of tokenizer.json. */
export function checkConstraint(content: Record<string, unknown>, { constraint, places }: ConstraintJob): void {
  const [place = null] = places;
  if (tokenBytesOf(content) === null) {
    throw new DomainError(
      'unsupported_value',
      "This model's tokenizer does not allow a form of output to be enforced.",
      {
        param: place,
      },
    );
  }
  try {
    outputGrammar(new Expressions(ANY_REACH), constraint, places);
  } catch (error) {
    if (error instanceof TooComplex) throw new DomainError('unsupported_value', error.message, { param: place });
    if (!(error instanceof SchemaRefusal)) throw error;
    const { path, rule, invalid } = error;
    throw new DomainError(invalid ? 'invalid_value' : 'unsupported_value', `'${path}' ${rule}.`, { param: path });
  }
}
