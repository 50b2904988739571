import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { packageRoot } from '../../src/config/index.js';

type Json = Record<string, unknown>;

/**
 * The OpenAPI description of Open Responses, edition of 2026-04-24, as the contract of resources and stream events. It is
 * read where it lies (LMSP_TEST_OPEN_RESPONSES) and is no part of this package.
 */
export class OpenResponsesContract {
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false });
  private readonly validators = new Map<string, ValidateFunction>();
  /** Schema name by the `type` of the event. */
  private readonly events: Map<string, string>;

  private constructor(description: { components: { schemas: Record<string, Json> } }) {
    const { schemas } = description.components;
    this.ajv.addSchema({ $id: 'open-responses', components: { schemas } });
    const streaming = Object.entries(schemas).filter(([name]) => name.endsWith('StreamingEvent'));
    this.events = new Map(streaming.map(([name, schema]) => [typeOf(schema), name]));
  }

  /** Null, said in a line, where the description is not there. */
  static open(what: string): OpenResponsesContract | null {
    const beside = join(packageRoot(), '../shared/open-responses/2026-04-24.json');
    const path = process.env['LMSP_TEST_OPEN_RESPONSES'] ?? beside;
    if (existsSync(path)) return new OpenResponsesContract(JSON.parse(readFileSync(path, 'utf8')) as never);
    process.stdout.write(`left out: ${what}; LMSP_TEST_OPEN_RESPONSES names no description of Open Responses\n`);
    return null;
  }

  /** Null: it is one. */
  resourceComplaint(resource: unknown): string | null {
    return this.complaint('ResponseResource', resource);
  }

  /** Null: it is one of the stream's events. */
  eventComplaint(event: Json): string | null {
    const name = this.events.get(String(event['type']));
    return name === undefined ? `no event is named ${String(event['type'])}` : this.complaint(name, event);
  }

  private complaint(name: string, value: unknown): string | null {
    const known = this.validators.get(name);
    const validate = known ?? this.ajv.compile({ $ref: `open-responses#/components/schemas/${name}` });
    this.validators.set(name, validate);
    return validate(value) ? null : `${name}: ${this.ajv.errorsText(validate.errors)}`;
  }
}

function typeOf(schema: Json): string {
  const { type } = (schema['properties'] ?? {}) as { type?: { enum?: string[]; const?: string; default?: string } };
  return type?.enum?.[0] ?? type?.const ?? type?.default ?? '';
}
