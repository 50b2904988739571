import type { ConstrainedFunction, JsonConstraint, OutputConstraint, ToolCallForm } from '../output-constraint.js';
import type { Expression } from './expression.js';
import type { Expressions } from './expressions.js';
import { JsonText } from './json-text.js';
import { SchemaGrammar } from './schema-grammar.js';
import { SchemaRefusal } from './schema-refusal.js';

/** Part of an engine's fingerprint: what a constraint allows decides which tokens are drawn. */
export const GRAMMAR_VERSION = 1;

/** Where a schema of a constraint comes from, as its sender names it: one for each function, one for `json`. */
export type SchemaPlaces = readonly string[];

/** What an output may be. Throws SchemaRefusal, its path behind the place of the schema that is to blame. */
export function outputGrammar(make: Expressions, constraint: OutputConstraint, places: SchemaPlaces = []): Expression {
  if (constraint.kind === 'tool_calls') return new ToolCalls(make, constraint.form).read(constraint, places);
  return jsonValue(make, constraint, places[0]);
}

function jsonValue(make: Expressions, { schema }: JsonConstraint, place: string | undefined): Expression {
  if (schema === null) return new SchemaGrammar(make).anyObject();
  return placed(place, () => new SchemaGrammar(make).value(schema));
}

/** Calls as a model writes them. */
class ToolCalls {
  private readonly json: JsonText;

  constructor(
    private readonly make: Expressions,
    private readonly form: ToolCallForm,
  ) {
    this.json = new JsonText(make);
  }

  read(constraint: Extract<OutputConstraint, { kind: 'tool_calls' }>, places: SchemaPlaces): Expression {
    const { make, form } = this;
    const { functions, required, parallel, otherwise } = constraint;
    // Behind the opening mark.
    const body = make.either(...functions.map((each, i) => this.body(each, places[i])));
    const lineBreak = make.optional(make.byte(0x0a));
    const further = make.sequence(lineBreak, make.literal(form.open), body);
    const others = parallel ? make.repeat(further, 0) : make.end;
    const calls = make.sequence(body, others);
    const onlyCalls = make.pair(make.literal(form.open), calls);
    if (required) return onlyCalls;
    if (otherwise) return make.either(onlyCalls, jsonValue(make, otherwise, places[functions.length]));
    return make.freeUntil(Buffer.from(form.open, 'utf8'), () => calls);
  }

  private body({ name, parameters }: ConstrainedFunction, place: string | undefined): Expression {
    const { make, json, form } = this;
    const grammar = new SchemaGrammar(make, name);
    const value = placed(place, () => (parameters === null ? grammar.anyObject() : grammar.value(parameters)));
    const lineBreak = make.optional(make.byte(0x0a));
    const head = json.member(json.literal('name'), json.literal(name));
    const tail = json.member(json.literal(form.argumentsKey), value);
    const blank = make.optional(make.byte(0x20));
    const object = make.sequence(make.byte(0x7b), head, make.byte(0x2c), blank, tail, make.byte(0x7d));
    return make.sequence(lineBreak, object, lineBreak, make.literal(form.close));
  }
}

function placed<T>(place: string | undefined, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SchemaRefusal)) throw error;
    throw new SchemaRefusal(`${place ?? ''}${error.path}`, error.rule, error.invalid);
  }
}
