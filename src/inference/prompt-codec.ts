/** Text in, token ids out: chat template and tokenizer, run outside the service's process with a time limit. */

/** One chat message as templates expect it. */
export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content: string;
}

export interface ChatOptions {
  /** Function definitions for templates that list them. */
  tools?: readonly object[];
  /** A text that certainly has more is refused without being counted. */
  mostTokens?: number;
}

export interface PromptCodec {
  /**
   * Renders the model's chat template over the messages (with generation prompt) and tokenises it. Rejects with
   * DomainError: invalid_value (the template refused the messages), context_length_exceeded (far beyond mostTokens),
   * server_error (time limit), queue_full, model_load_failed (a file cannot be read).
   */
  encodeChat(directory: string, messages: ChatMessage[], options?: ChatOptions): Promise<number[]>;
  /** Token ids of a text, without special tokens added. */
  encodeText(directory: string, text: string): Promise<number[]>;
  close(): Promise<void>;
}

export const PROMPT_CODEC = Symbol('PromptCodec');
