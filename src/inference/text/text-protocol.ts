import type { ErrorCode } from '../../errors/index.js';
import type { ChatMessage, ChatOptions } from '../prompt-codec.js';

/** One prompt to be turned into token ids. */
export type TextJob =
  | ({ kind: 'chat'; directory: string; messages: ChatMessage[] } & ChatOptions)
  | { kind: 'text'; directory: string; text: string };

/** Message to a text worker; the next one follows after its result. */
export interface ToTextWorker {
  job: TextJob;
  limitMs: number;
}

export type TextResult = { ids: number[] } | { error: { code: ErrorCode; message: string } };
