import type { OutputConstraint, ToolCallForm } from './output-constraint.js';

/** From text to token ids and back: chat template and tokenizer, run outside the service's process with a time limit. */

/** One chat message as templates expect it. */
export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content: string;
  /** What an assistant has called. */
  tool_calls?: ChatToolCall[];
  /** What an assistant thought before; templates that keep it look for it. */
  reasoning_content?: string;
  /** The call that a tool's message is the output of, and its function. */
  tool_call_id?: string;
  name?: string;
}

export interface ChatToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: Record<string, unknown> };
}

/** How a model writes what is not text, as its chat template tells. */
export interface ChatSyntax {
  calls: ToolCallForm;
  /** `open`: the prompt ends inside of the reasoning, `possible`: the answer may begin with it, null: the model has none. */
  reasoning: 'open' | 'possible' | null;
}

export interface EncodedChat {
  ids: number[];
  syntax: ChatSyntax;
}

export interface ChatOptions {
  /** Function definitions; where the template does not know them, a text of ours tells the model. */
  tools?: readonly object[];
  /** False: the model is asked not to think before it answers, where its template knows how. */
  thinking?: boolean;
  /** A text that certainly has more is refused without being counted. */
  mostTokens?: number;
}

export interface TextOptions {
  /** The text is a whole prompt: it begins with the start token that the tokenizer puts before one. */
  asPrompt?: boolean;
  /** A text that certainly has more is refused without being counted. */
  mostTokens?: number;
}

export interface PromptCodec {
  /**
   * Renders the model's chat template over the messages (with generation prompt) and tokenises it. Rejects with
   * DomainError: invalid_value (the template refused the messages), context_length_exceeded (far beyond mostTokens),
   * server_error (time limit), queue_full, model_load_failed (a file cannot be read).
   */
  encodeChat(directory: string, messages: ChatMessage[], options?: ChatOptions): Promise<EncodedChat>;
  /**
   * Token ids of a text, without special tokens added; those that it spells are the tokens themselves. Rejects as
   * encodeChat does.
   */
  encodeText(directory: string, text: string, options?: TextOptions): Promise<number[]>;
  /** Text of token ids, special ones as they are spelt. Rejects with invalid_value naming the id that is none (`tokens[3]`). */
  decode(directory: string, tokens: readonly number[]): Promise<string>;
  /**
   * Whether outputs of the model can be held to the constraint; `places` name its schemas as their sender does: one of a
   * `json`, one for each function of `tool_calls`. Rejects with DomainError unsupported_value or invalid_value, whose
   * param goes on behind the place: `text.format.schema/properties/a/not`.
   */
  checkConstraint(directory: string, constraint: OutputConstraint, places: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export const PROMPT_CODEC = Symbol('PromptCodec');
