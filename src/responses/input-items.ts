import { DomainError } from '../errors/index.js';
import type { JsonObject } from '../tasks/index.js';
import { parsed } from './call-head.js';
import type { CreateResponseDto } from './dto/create-response.dto.js';
import type { FunctionCallDto, InputItemDto, ItemReferenceDto } from './dto/input-item.dto.js';
import type { InputMessageDto } from './dto/input-message.dto.js';
import { itemIdentifier } from './output-items.js';

/** The items that a request gives; a text is one message of the user. */
export function givenItems(input: CreateResponseDto['input']): InputItemDto[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

/** The ids that items refer to others with. */
export function referencesIn(given: readonly InputItemDto[]): string[] {
  return given.flatMap((item) => (item.type === 'item_reference' ? [item.id] : []));
}

/**
 * Items as they are stored and listed, in order, each with an id of its own; instructions are none of them. Throws
 * invalid_value naming what is wrong, item_not_found naming a reference to nothing.
 */
export function inputItems(
  given: readonly InputItemDto[],
  responseId: string,
  referenced: ReadonlyMap<string, JsonObject>,
): JsonObject[] {
  return given.map((item, index) => {
    const stored = storedItem(item, `input[${index}]`, referenced);
    return { ...stored, id: inputIdentifier(stored, responseId, index) };
  });
}

/** Each output of the input must be of a call that came before. Throws invalid_value naming the one that is not. */
export function requireCalls(earlier: readonly JsonObject[], input: readonly JsonObject[]): void {
  const calls = new Set<unknown>();
  for (const [index, item] of [...earlier, ...input].entries()) {
    if (item['type'] === 'function_call') calls.add(item['call_id']);
    if (item['type'] !== 'function_call_output' || index < earlier.length || calls.has(item['call_id'])) continue;
    const param = `input[${index - earlier.length}].call_id`;
    throw new DomainError('invalid_value', `'${param}' must be the id of a call that came before.`, { param });
  }
}

function storedItem(item: InputItemDto, param: string, referenced: ReadonlyMap<string, JsonObject>): JsonObject {
  switch (item.type) {
    case 'item_reference':
      return referencedItem(item, referenced, param);
    case 'function_call':
      return callItem(item, param);
    case 'function_call_output':
      return { type: item.type, status: 'completed', call_id: item.call_id, output: item.output };
    case 'reasoning':
      return { type: item.type, summary: (item.summary ?? []).map(({ text }) => ({ type: 'summary_text', text })) };
    default:
      return messageItem(item, param);
  }
}

function referencedItem(
  { id }: ItemReferenceDto,
  referenced: ReadonlyMap<string, JsonObject>,
  param: string,
): JsonObject {
  const item = referenced.get(id);
  // Missing and foreign items are the same to their caller (WIRE B0).
  if (!item) throw new DomainError('item_not_found', `No item with id "${id}" is stored.`, { param: `${param}.id` });
  return item;
}

function callItem({ call_id, name, arguments: given }: FunctionCallDto, param: string): JsonObject {
  const values = parsed(given);
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    const field = `${param}.arguments`;
    throw new DomainError('invalid_value', `'${field}' must be a JSON object as text.`, { param: field });
  }
  return { type: 'function_call', status: 'completed', call_id, name, arguments: given };
}

/** Only an assistant may have said nothing: a model whose first token was its end token did. */
function messageItem({ role, content, phase }: InputMessageDto, param: string): JsonObject {
  const texts = typeof content === 'string' ? [content] : content.map((part) => part.text);
  if (role !== 'assistant' && texts.every((text) => text === '')) {
    throw new DomainError('invalid_value', `'${param}.content' must not be empty.`, { param: `${param}.content` });
  }
  const parts = texts.map((text) =>
    role === 'assistant' ? { type: 'output_text', text, annotations: [], logprobs: [] } : { type: 'input_text', text },
  );
  return { type: 'message', status: 'completed', role, content: parts, ...(phase && { phase }) };
}

const PREFIXES: Record<string, string> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
};

function inputIdentifier({ type }: JsonObject, responseId: string, index: number): string {
  return itemIdentifier(PREFIXES[type as string] ?? 'item', `${responseId}/input`, 0, index);
}
