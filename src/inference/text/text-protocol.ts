import type { ErrorCode } from '../../errors/index.js';
import type { ChatMessage, ChatOptions, TextOptions } from '../prompt-codec.js';

/** One text to be turned into token ids. */
export type EncodeJob =
  | ({ kind: 'chat'; directory: string; messages: ChatMessage[] } & ChatOptions)
  | ({ kind: 'text'; directory: string; text: string } & TextOptions);

export interface DecodeJob {
  kind: 'decode';
  directory: string;
  tokens: readonly number[];
}

export type TextJob = EncodeJob | DecodeJob;

/** Message to a text worker; the next one follows after its result. */
export interface ToTextWorker {
  job: TextJob;
  limitMs: number;
}

/** Token ids of an EncodeJob, the text of a DecodeJob. */
export type TextValue = number[] | string;

export type TextResult = { value: TextValue } | { error: { code: ErrorCode; message: string; param: string | null } };
