import { DomainError } from '../errors/index.js';
import type { JsonObject } from '../tasks/index.js';
import type { CreateResponseDto } from './dto/create-response.dto.js';
import type { InputItemDto, ItemReferenceDto } from './dto/input-item.dto.js';
import type { InputMessageDto } from './dto/input-message.dto.js';
import { itemIdentifier } from './response-events.js';

/** The items that a request gives; a text is one message of the user. */
export function givenItems(input: CreateResponseDto['input']): InputItemDto[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

/** The ids that items refer to others with. */
export function referencesIn(given: readonly InputItemDto[]): string[] {
  return given.filter(isReference).map(({ id }) => id);
}

/**
 * Items as they are stored and listed, in order, each with an id of its own; instructions are none of them. Throws
 * invalid_value naming a message without content, item_not_found naming a reference to nothing.
 */
export function inputItems(
  given: readonly InputItemDto[],
  responseId: string,
  referenced: ReadonlyMap<string, JsonObject>,
): JsonObject[] {
  return given.map((item, index) => {
    const param = `input[${index}]`;
    const stored = isReference(item) ? referencedItem(item, referenced, param) : messageItem(item, param);
    return { ...stored, id: inputIdentifier(stored, responseId, index) };
  });
}

function referencedItem(
  { id }: ItemReferenceDto,
  referenced: ReadonlyMap<string, JsonObject>,
  param: string,
): JsonObject {
  const item = referenced.get(id);
  if (!item) throw itemNotFound(param, id);
  return item;
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

const KINDS: Record<string, string> = { message: 'msg' };

function inputIdentifier({ type }: JsonObject, responseId: string, index: number): string {
  return itemIdentifier(KINDS[type as string] ?? 'item', `${responseId}/input`, 0, index);
}

/** Missing and foreign items are the same to their caller (WIRE B0). */
function itemNotFound(param: string, id: string): DomainError {
  return new DomainError('item_not_found', `No item with id "${id}" is stored.`, { param: `${param}.id` });
}

function isReference(item: InputItemDto): item is ItemReferenceDto {
  return item.type === 'item_reference';
}
