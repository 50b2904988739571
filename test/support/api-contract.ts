import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Json = Record<string, unknown>;

interface Operation {
  method: string;
  path: RegExp;
  answers: Record<string, { content?: Record<string, { schema: Json }> }>;
}

/** One answer as it was received. */
export interface ReceivedAnswer {
  method: string;
  /** With its query. */
  path: string;
  status: number;
  contentType: string | null;
  body: unknown;
}

/** Objects that are open by nature: their further fields depend on their type. */
const OPEN = ['TaskEvent', 'InputItem'];

/** Holds answers against the description of the API: the status is listed, the body fits, and has no field beyond it. */
export class ApiContract {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly operations: Operation[];
  private readonly validators = new Map<Json, ValidateFunction>();
  private readonly components: Json;

  constructor(document: object) {
    const { paths, components } = structuredClone(document) as { paths: Json; components: { schemas: Json } };
    for (const [name, schema] of Object.entries(components.schemas)) if (!OPEN.includes(name)) close(schema);
    close(paths);
    this.components = components;
    this.operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item as Json).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: patternOf(path),
        answers: (operation as { responses: Operation['answers'] }).responses,
      })),
    );
  }

  /** What is wrong with the answer; null: nothing, or the route is not described (such as unknown ones). */
  complaint({ method, path, status, contentType, body }: ReceivedAnswer): string | null {
    const bare = path.replace(/[?#].*$/, '');
    const operation = this.operations.find((each) => each.method === method && each.path.test(bare));
    if (!operation) return null;
    const answer = operation.answers[String(status)];
    if (!answer) return `${method} ${bare} answered ${status}, which is not described: ${JSON.stringify(body)}`;
    const type = (contentType ?? '').split(';')[0]?.trim() ?? '';
    if (type === 'text/event-stream' || body === null) return null;
    const schema = answer.content?.[type]?.schema;
    if (!schema) return `${method} ${bare} ${status} has the type ${type}, which is not described`;
    const validate = this.validatorOf(schema);
    return validate(body) ? null : `${method} ${bare} ${status}: ${this.ajv.errorsText(validate.errors)}`;
  }

  private validatorOf(schema: Json): ValidateFunction {
    const known = this.validators.get(schema);
    if (known) return known;
    const validate = this.ajv.compile({ ...schema, components: this.components });
    this.validators.set(schema, validate);
    return validate;
  }
}

/** `/v1/models/{id}` may hold slashes; a literal route that fits as well comes first in the description's order. */
function patternOf(path: string): RegExp {
  const wide = path === '/v1/models/{id}';
  return new RegExp(`^${path.replace(/\{\w+\}/g, wide ? '.+' : '[^/]+')}$`);
}

/** Refuses what the description does not name, in every object that it lists the fields of. */
function close(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const schema = node as Json;
  if ('properties' in schema && 'type' in schema && schema['additionalProperties'] === undefined) {
    schema['additionalProperties'] = false;
  }
  Object.values(schema).forEach(close);
}
