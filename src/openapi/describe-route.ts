import { applyDecorators } from '@nestjs/common';
import type { ApiResponseOptions } from '@nestjs/swagger';
import { STATUS_OF_KIND, ERROR_CODES, type ErrorCode } from '../errors/index.js';
import { ERROR, exampleOf, type ErrorExample } from './error-answers.js';
import type { Schema } from './schema.js';
import { whenDescribed, type Swagger } from './swagger.js';

/** One good answer of a route. */
export interface AnswerDescription {
  description: string;
  /** Of the JSON body; absent: there is none. */
  schema?: Schema;
  /** Of the data of one event, where the answer may be an event stream. */
  events?: Schema;
  /** Another content type in the place of JSON, e.g. text/plain. */
  contentType?: string;
}

export interface RouteDescription {
  /** Stable name of the operation, unique. */
  id: string;
  /** What it does, in one line. */
  summary: string;
  /** What a caller has to know beyond that. Markdown. */
  description?: string;
  /** Of the JSON body. */
  body?: Schema;
  /** The body may be left out. */
  bodyOptional?: boolean;
  /** The body may also come as a form (RFC 6749). */
  form?: boolean;
  query?: Record<string, Schema>;
  /** Request headers that mean something here, by name. */
  headers?: Record<string, string>;
  /** By status. */
  answers: Record<number, AnswerDescription>;
  /** Codes of WIRE B9 beside those that every route of its kind may answer. */
  errors?: readonly ErrorCode[];
}

/** Every route may answer these. */
const ANYWHERE: readonly ErrorCode[] = ['host_not_allowed', 'origin_not_allowed', 'server_error', 'service_recovering'];
const WITH_FIELDS: readonly ErrorCode[] = ['invalid_type', 'invalid_value', 'missing_required_parameter'];
/** Added by the document to every route that writes, also to those that want no body: one that comes is read. */
export const WITH_ANY_BODY: readonly ErrorCode[] = ['invalid_json', 'request_too_large', 'unsupported_media_type'];
/** Added by the document to every route that needs a token. */
export const WITH_TOKEN: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'token_expired',
  'insufficient_scope',
  'rate_limit_exceeded',
];

/** Puts the route into the description of the API (OPERATE 6). Its scope is told by @RequireScope. */
export function DescribeRoute(route: RouteDescription): MethodDecorator {
  return whenDescribed((swagger) => described(route, swagger));
}

function described(route: RouteDescription, swagger: Swagger): MethodDecorator {
  const { ApiBody, ApiHeader, ApiOperation, ApiQuery, ApiResponse } = swagger;
  const { id: operationId, summary, description, body, form, answers, headers = {}, query = {} } = route;
  const decorators: MethodDecorator[] = [ApiOperation({ operationId, summary, ...(description && { description }) })];
  if (body) {
    const required = !route.bodyOptional;
    decorators.push(
      ApiBody({ required, schema: body, ...(form && { description: 'JSON, or the same fields as a form' }) }),
    );
  }
  for (const [name, schema] of Object.entries(query)) {
    decorators.push(ApiQuery({ name, required: false, schema: { ...schema }, ...descriptionOf(schema) }));
  }
  for (const [name, meaning] of Object.entries(headers)) {
    decorators.push(ApiHeader({ name, required: false, description: meaning, schema: { type: 'string' } }));
  }
  for (const [status, answer] of Object.entries(answers)) {
    decorators.push(ApiResponse(goodAnswer(Number(status), answer)));
  }
  const codes = [...ANYWHERE, ...(body ? WITH_FIELDS : []), ...(route.errors ?? [])];
  for (const [status, refusal] of Object.entries(refusalsByStatus(codes))) {
    // Its own 503 is what /health has to say.
    if (!(status in answers)) decorators.push(ApiResponse({ status: Number(status), ...refusal }));
  }
  return applyDecorators(...decorators);
}

function descriptionOf({ description }: Schema): { description?: string } {
  return typeof description === 'string' ? { description } : {};
}

function goodAnswer(status: number, answer: AnswerDescription): ApiResponseOptions {
  const { description, schema, events, contentType } = answer;
  const type = contentType ?? 'application/json';
  const content = {
    ...(schema && { [type]: { schema: { ...schema } } }),
    ...(events && { 'text/event-stream': { schema: { ...events } } }),
  };
  return { status, description, ...(Object.keys(content).length > 0 && { content }) };
}

export interface Refusal {
  /** The codes. */
  description: string;
  content: { 'application/json': { schema: Record<string, unknown>; examples: Record<string, ErrorExample> } };
}

/** One answer for each status, with an example of each code. */
export function refusalsByStatus(codes: readonly ErrorCode[]): Record<string, Refusal> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...new Set(codes)].sort()) {
    const status = STATUS_OF_KIND[ERROR_CODES[code].kind];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const refusals = [...byStatus].map(([status, known]): [string, Refusal] => {
    const examples = Object.fromEntries(known.map((code) => [code, exampleOf(code)]));
    const json = { schema: { ...ERROR }, examples };
    return [String(status), { description: known.join(', '), content: { 'application/json': json } }];
  });
  return Object.fromEntries(refusals);
}
