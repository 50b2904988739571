import type { ChatMessage } from '../inference/index.js';
import type { JsonObject } from '../tasks/index.js';
import { parsed } from './call-head.js';

interface Text {
  text: string;
}

type StoredItem =
  | { type: 'message'; role: ChatMessage['role']; content: Text[] }
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string | Text[] }
  | { type: 'reasoning'; summary: Text[] };

/** What the chat template gets for items as they are stored, oldest first. */
export function promptMessages(items: readonly JsonObject[], instructions: string | null | undefined): ChatMessage[] {
  const prompt = new PromptMessages();
  if (instructions) prompt.messages.push({ role: 'system', content: instructions });
  for (const item of items) prompt.add(item as unknown as StoredItem);
  return prompt.messages;
}

/** Templates take what an assistant thought, said and called in one turn as one message. */
class PromptMessages {
  readonly messages: ChatMessage[] = [];
  private readonly functions = new Map<string, string>();
  private thought = '';

  add(item: StoredItem): void {
    switch (item.type) {
      case 'message':
        this.push({ role: item.role, content: joined(item.content) });
        return;
      case 'reasoning':
        this.thought += joined(item.summary);
        return;
      case 'function_call':
        this.call(item);
        return;
      case 'function_call_output': {
        const name = this.functions.get(item.call_id);
        const { output } = item;
        const content = typeof output === 'string' ? output : joined(output);
        this.push({ role: 'tool', content, tool_call_id: item.call_id, ...(name !== undefined && { name }) });
        return;
      }
    }
  }

  /** One that was cut off has no arguments to speak of, and is left out. */
  private call({ call_id: id, name, arguments: text }: StoredItem & { type: 'function_call' }): void {
    const values = parsed(text);
    if (typeof values !== 'object' || values === null) return;
    this.functions.set(id, name);
    const call = { id, type: 'function' as const, function: { name, arguments: values as Record<string, unknown> } };
    const last = this.messages.at(-1);
    if (last?.role === 'assistant') last.tool_calls = [...(last.tool_calls ?? []), call];
    else this.push({ role: 'assistant', content: '', tool_calls: [call] });
  }

  private push(message: ChatMessage): void {
    const { thought } = this;
    this.thought = '';
    const thinks = message.role === 'assistant' && thought !== '';
    this.messages.push(thinks ? { ...message, reasoning_content: thought } : message);
  }
}

function joined(parts: readonly Text[]): string {
  return parts.map(({ text }) => text).join('');
}
