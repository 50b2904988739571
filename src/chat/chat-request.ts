import { DomainError } from '../errors/index.js';
import { LOGPROBS } from '../responses/index.js';
import type { JsonObject } from '../tasks/index.js';
import { inputOf } from './chat-input.js';
import type { CreateChatCompletionDto } from './dto/create-chat-completion.dto.js';
import type { ChatToolDto, ResponseFormatDto } from './dto/output-form.dto.js';
import { FieldNames } from './field-names.js';

/** Body of a response request, and what its fields are called in the request that it was made of. */
export interface ResponseRequest {
  body: JsonObject;
  names: FieldNames;
}

/** Fields that a response has too, by the same name. */
const SAME = [
  'model',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'presence_penalty',
  'frequency_penalty',
  'repetition_penalty',
  'logit_bias',
  'seed',
  'stop',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'keep_alive_seconds',
  'parallel_tool_calls',
] as const;

/** The fields of the request that it shares with a response. */
export function sharedFields(dto: object): JsonObject {
  const fields = dto as JsonObject;
  return Object.fromEntries(SAME.filter((name) => name in fields).map((name) => [name, fields[name]]));
}

/** Throws DomainError naming the field of the chat request. */
export function responseOfChat(dto: CreateChatCompletionDto): ResponseRequest {
  const { items, names } = inputOf(dto.messages);
  const { max_completion_tokens: limit, max_tokens: olderLimit, tools, response_format: format, verbosity } = dto;
  const body: JsonObject = { ...sharedFields(dto), store: false, input: items };
  if (limit ?? olderLimit) body['max_output_tokens'] = limit ?? olderLimit;
  if (tools) body['tools'] = tools.map(toolOf);
  if (dto.tool_choice) body['tool_choice'] = toolChoiceOf(dto.tool_choice);
  if (format || verbosity)
    body['text'] = { ...(format && { format: formatOf(format) }), ...(verbosity && { verbosity }) };
  if (dto.reasoning_effort) body['reasoning'] = { effort: dto.reasoning_effort };
  Object.assign(body, logprobsOf(dto));
  return { body, names: new FieldNames({ ...names, ...namesOf(dto) }) };
}

function namesOf({ max_completion_tokens: limit, tools }: CreateChatCompletionDto): Record<string, string> {
  const names: Record<string, string> = {
    max_output_tokens: limit ? 'max_completion_tokens' : 'max_tokens',
    'text.format': 'response_format',
    'text.verbosity': 'verbosity',
    'reasoning.effort': 'reasoning_effort',
    'tool_choice.name': 'tool_choice.function.name',
    include: 'logprobs',
  };
  for (const field of ['name', 'description', 'schema', 'strict']) {
    names[`text.format.${field}`] = `response_format.json_schema.${field}`;
  }
  tools?.forEach((_, index) => {
    names[`tools[${index}]`] = `tools[${index}].function`;
    names[`tools[${index}].type`] = `tools[${index}].type`;
  });
  return names;
}

/** Without `strict` a chat asks for no more than effort, where a response would be held to the schema. */
function toolOf({ type, function: { name, description, parameters, strict } }: ChatToolDto): JsonObject {
  return {
    type,
    name,
    strict: strict ?? false,
    ...(description && { description }),
    ...(parameters && { parameters }),
  };
}

function toolChoiceOf(choice: string | JsonObject): unknown {
  if (typeof choice === 'string') return choice;
  const { type } = choice;
  const inner = choice[String(type)];
  if (typeof inner !== 'object' || inner === null) return choice;
  if (type !== 'allowed_tools') return { type, ...inner };
  const { mode, tools } = inner as { mode?: unknown; tools?: unknown };
  return { type, mode, tools: Array.isArray(tools) ? tools.map((tool) => toolChoiceOf(tool as JsonObject)) : tools };
}

function formatOf({ type, json_schema: stated }: ResponseFormatDto): JsonObject {
  if (type !== 'json_schema' || !stated) return { type };
  const { name, schema, description, strict } = stated;
  return { type, name, strict: strict ?? false, ...(schema && { schema }), ...(description && { description }) };
}

function logprobsOf({ logprobs, top_logprobs: most }: CreateChatCompletionDto): JsonObject {
  if (logprobs) return { include: [LOGPROBS], ...(most && { top_logprobs: most }) };
  if (!most) return {};
  throw new DomainError('invalid_value', "'top_logprobs' needs 'logprobs'.", { param: 'top_logprobs' });
}
