/** Text in, token ids out: chat template and tokenizer, run outside the service's process with a time limit. */

/** One chat message as templates expect it. */
export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content: string;
}

export interface PromptCodec {
  /**
   * Renders the model's chat template over the messages (with generation prompt) and tokenises it.
   * `tools`: function definitions for templates that list them. Rejects with DomainError: invalid_value (the template
   * refused the messages), server_error (time limit), queue_full, model_load_failed (a file cannot be read).
   */
  encodeChat(directory: string, messages: ChatMessage[], tools?: readonly object[]): Promise<number[]>;
  /** Token ids of a text, without special tokens added. */
  encodeText(directory: string, text: string): Promise<number[]>;
  close(): Promise<void>;
}

export const PROMPT_CODEC = Symbol('PromptCodec');
