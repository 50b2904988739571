import type { ChatMessage } from '../inference/index.js';
import type { JsonObject } from '../tasks/index.js';

/** What the chat template gets for items as they are stored, oldest first. */
export function promptMessages(items: readonly JsonObject[], instructions: string | null | undefined): ChatMessage[] {
  const messages = (items as unknown as StoredMessage[]).map(({ role, content }) => ({
    role,
    content: content.map(({ text }) => text).join(''),
  }));
  return instructions ? [{ role: 'system', content: instructions }, ...messages] : messages;
}

interface StoredMessage {
  role: ChatMessage['role'];
  content: { text: string }[];
}
