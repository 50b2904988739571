import { DomainError } from '../errors/index.js';
import type { JsonObject } from '../tasks/index.js';
import type { ChatContentPartDto, ChatMessageDto } from './dto/chat-message.dto.js';

/** Messages of a chat as the input of a response. */
export interface ChatInput {
  items: JsonObject[];
  /** Path in the response request → path in the chat request. */
  names: Record<string, string>;
}

/** Throws DomainError missing_required_parameter naming what a message of its role must have. */
export function inputOf(messages: readonly ChatMessageDto[]): ChatInput {
  const input: ChatInput = { items: [], names: { input: 'messages' } };
  messages.forEach((message, index) => addMessage(input, message, `messages[${index}]`));
  return input;
}

function addMessage(input: ChatInput, message: ChatMessageDto, path: string): void {
  const { role, tool_calls: calls } = message;
  const text = textOf(message, path);
  if (role === 'tool') {
    if (typeof message.tool_call_id !== 'string') throw missing(`${path}.tool_call_id`);
    const names = { '': path, '.call_id': `${path}.tool_call_id`, '.output': `${path}.content` };
    add(input, { type: 'function_call_output', call_id: message.tool_call_id, output: text ?? '' }, names);
    return;
  }
  const called = role === 'assistant' ? (calls ?? []) : [];
  if (text !== null || called.length === 0) {
    add(input, { type: 'message', role, content: text ?? '' }, { '': path });
  }
  called.forEach(({ id, function: { name, arguments: given } }, index) => {
    const at = `${path}.tool_calls[${index}]`;
    const names = {
      '': at,
      '.call_id': `${at}.id`,
      '.name': `${at}.function.name`,
      '.arguments': `${at}.function.arguments`,
    };
    add(input, { type: 'function_call', call_id: id, name, arguments: given }, names);
  });
}

/** `names`: path within the item → path in the chat request. */
function add({ items, names: all }: ChatInput, item: JsonObject, names: Record<string, string>): void {
  const at = `input[${items.length}]`;
  for (const [within, theirs] of Object.entries(names)) all[at + within] = theirs;
  items.push(item);
}

/** Null: an assistant said nothing, or only called. */
function textOf({ role, content }: ChatMessageDto, path: string): string | null {
  const param = `${path}.content`;
  if (content === null || content === undefined) {
    if (role === 'assistant') return null;
    throw missing(param);
  }
  if (typeof content === 'string') return content === '' && role === 'assistant' ? null : content;
  return content.map((part, index) => textOfPart(part, `${param}[${index}]`)).join('');
}

function textOfPart({ type, text, refusal }: ChatContentPartDto, path: string): string {
  const written = type === 'refusal' ? refusal : text;
  if (typeof written === 'string') return written;
  throw missing(`${path}.${type}`);
}

function missing(param: string): DomainError {
  return new DomainError('missing_required_parameter', `'${param}' is required.`, { param });
}
