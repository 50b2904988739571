import { DomainError } from '../errors/index.js';
import type { ChatMessage } from '../inference/index.js';
import type { JsonObject } from '../tasks/index.js';
import type { CreateResponseDto } from './dto/create-response.dto.js';
import type { InputMessageDto } from './dto/input-message.dto.js';
import { itemIdentifier } from './response-events.js';

export interface RequestInput {
  /** Items as GET …/input_items lists them, oldest first; instructions are none of them. */
  items: JsonObject[];
  /** What the chat template gets. */
  messages: ChatMessage[];
}

/** Input and instructions of a request. Throws invalid_value naming a message without content. */
export function readInput({ input, instructions }: CreateResponseDto, responseId: string): RequestInput {
  const given: InputMessageDto[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const messages: ChatMessage[] = given.map((message, index) => ({
    role: message.role,
    content: textOf(message, `input[${index}].content`),
  }));
  if (instructions) messages.unshift({ role: 'system', content: instructions });
  const items = given.map((message, index) => itemOf(message, itemIdentifier('msg', `${responseId}/input`, 0, index)));
  return { items, messages };
}

/** Only an assistant may have said nothing: a model whose first token was its end token did. */
function textOf({ role, content }: InputMessageDto, param: string): string {
  const text = typeof content === 'string' ? content : content.map((part) => part.text).join('');
  if (text !== '' || role === 'assistant') return text;
  throw new DomainError('invalid_value', `'${param}' must not be empty.`, { param });
}

function itemOf({ role, content, phase }: InputMessageDto, id: string): JsonObject {
  const texts = typeof content === 'string' ? [content] : content.map((part) => part.text);
  const parts = texts.map((text) =>
    role === 'assistant' ? { type: 'output_text', text, annotations: [], logprobs: [] } : { type: 'input_text', text },
  );
  return { id, type: 'message', status: 'completed', role, content: parts, ...(phase && { phase }) };
}
