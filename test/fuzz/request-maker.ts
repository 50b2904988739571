import type { Random } from '../support/random.js';
import { SchemaValues, type Schema } from './schema-values.js';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
}

interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface FuzzRequest {
  operation: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** What would end the run itself. */
const LEFT_OUT = ['stopService'];
const JUNK_IDS = ['', 'x', '%00', '..%2f..%2f', 'resp_', 'task_😀', 'A'.repeat(300), '%', '-1', 'null', '*'];
const JUNK_BODIES = [
  '',
  '{',
  '{:',
  'null',
  '[]',
  '"text"',
  '{"a":1}}',
  '[1e999]',
  '\u0000',
  '{"model":"pocket","input":',
];

/** Requests from the description of the API: right, nearly right and wrong ones, by one seed. */
export class RequestMaker {
  private readonly values: SchemaValues;
  private readonly operations: { method: string; path: string; operation: Operation }[];
  /** What makes work; asked for more often. */
  private readonly creates: typeof this.operations;
  /** Ids that answers have named, to be asked for again. */
  private readonly ids: string[] = ['pocket'];

  constructor(
    document: ApiDocument,
    private readonly random: Random,
    private readonly tokens: { owner: string; reader: string },
    /** Ids that must not be deleted or changed: the caller's own. */
    private readonly untouchable: ReadonlySet<string>,
  ) {
    this.values = new SchemaValues(random, document.components.schemas);
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, { operationId }]) => !LEFT_OUT.includes(operationId))
        .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
    this.creates = this.operations.filter(({ operation }) => operation.operationId === 'createResponse');
  }

  /** Remembers ids and codes of an answer. */
  learn(text: string): void {
    for (const [id] of text.matchAll(/\b(?:resp|task|cli|msg)_[0-9a-z]{20,32}\b|\b[A-Z]{4}-[A-Z]{4}\b/g)) {
      if (this.untouchable.has(id)) continue;
      if (this.ids.length > 200) this.ids.splice(this.random.between(1, this.ids.length - 1), 1);
      this.ids.push(id);
    }
  }

  next(): FuzzRequest {
    const { method, path, operation } = this.random.pick(this.random.chance(0.2) ? this.creates : this.operations);
    const parameters = operation.parameters ?? [];
    const query = parameters
      .filter((each) => each.in === 'query' && this.random.chance(0.3))
      .map((each) => this.query(each));
    const body = this.body(operation);
    return {
      operation: operation.operationId,
      method: this.random.chance(0.01) ? this.random.pick(['PUT', 'OPTIONS', 'HEAD', 'TRACE']) : method,
      path: path.replace(/\{\w+\}/g, () => this.id()) + (query.length > 0 ? `?${query.join('&')}` : ''),
      headers: this.headers(body, parameters),
      body,
    };
  }

  private id(): string {
    if (this.random.chance(0.75)) return this.random.pick(this.ids);
    return this.random.chance(0.3)
      ? encodeURIComponent(this.random.pick(this.ids).toUpperCase())
      : this.random.pick(JUNK_IDS);
  }

  private query({ name, schema }: Parameter): string {
    const value = this.random.chance(0.6) ? this.values.valid(schema) : this.values.odd();
    return `${name}=${encodeURIComponent(wellFormed(typeof value === 'string' ? value : JSON.stringify(value)))}`;
  }

  private body({ requestBody }: Operation): Buffer | null {
    const schema = requestBody?.content['application/json']?.schema;
    if (!schema) return this.random.chance(0.03) ? Buffer.from(this.random.pick(JUNK_BODIES)) : null;
    const kind = this.random.weighted({ valid: 6, damaged: 4, junk: 1, cut: 0.5, bytes: 0.5 });
    if (kind === 'junk') return Buffer.from(this.random.pick(JUNK_BODIES));
    if (kind === 'bytes') return Buffer.from([0xff, 0xfe, 0x7b, 0x80]);
    const value = kind === 'damaged' ? this.values.damaged(schema) : this.values.valid(schema);
    const text = Buffer.from(JSON.stringify(this.short(value)) ?? 'null');
    return kind === 'cut' ? text.subarray(0, Math.floor(text.length / 2)) : text;
  }

  /** Most requests name the model that there is, ask for a short answer, and often for one in the background. */
  private short(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || !('model' in value) || this.random.chance(0.1)) return value;
    if (!('input' in value)) return { ...value, model: 'pocket' };
    const background = this.random.chance(0.4) && { background: true, store: true };
    return { ...value, model: 'pocket', max_output_tokens: this.random.between(1, 12), ...background };
  }

  private headers(body: Buffer | null, parameters: Parameter[]): Record<string, string> {
    const headers: Record<string, string> = {};
    const who = this.random.weighted({ owner: 30, reader: 2, nobody: 1, wrong: 0.3 });
    if (who === 'owner' || who === 'reader') headers['authorization'] = `Bearer ${this.tokens[who]}`;
    if (who === 'wrong') headers['authorization'] = this.random.pick(['Bearer x', 'Basic eDp5', 'Bearer', 'lmsp_']);
    if (body) headers['content-type'] = this.random.chance(0.95) ? 'application/json' : 'text/plain';
    for (const { name } of parameters.filter((each) => each.in === 'header' && this.random.chance(0.3))) {
      headers[name] = this.random.pick([
        '1',
        '-1',
        'a-key',
        `k${this.random.between(1, 40)}`,
        'x'.repeat(300),
        '9007199254740993',
      ]);
    }
    if (this.random.chance(0.15)) headers['accept'] = 'text/event-stream';
    return headers;
  }
}

/** encodeURIComponent throws on half a surrogate pair. */
function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udfff]/g, '\ufffd');
}
