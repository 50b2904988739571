import type { ErrorCode } from '../../errors/index.js';
import type { OutputConstraint } from '../output-constraint.js';
import type { ChatMessage, ChatOptions, EncodedChat, TextOptions } from '../prompt-codec.js';

/** Messages to be rendered and turned into token ids. */
export type ChatJob = { kind: 'chat'; directory: string; messages: ChatMessage[] } & ChatOptions;

/** One text to be turned into token ids. */
export type EncodeJob = { kind: 'text'; directory: string; text: string } & TextOptions;

export interface DecodeJob {
  kind: 'decode';
  directory: string;
  tokens: readonly number[];
}

/** Whether the model's outputs can be held to something. */
export interface ConstraintJob {
  kind: 'constraint';
  directory: string;
  constraint: OutputConstraint;
  places: readonly string[];
}

export type TextJob = ChatJob | EncodeJob | DecodeJob | ConstraintJob;

/** Message to a text worker; the next one follows after its results, one for each job in order. */
export interface ToTextWorker {
  jobs: readonly TextJob[];
  /** For all of them together. */
  limitMs: number;
}

/** Of a ChatJob, an EncodeJob, a DecodeJob, a ConstraintJob. */
export type TextValue = EncodedChat | number[] | string | null;

export type TextResult = { value: TextValue } | { error: { code: ErrorCode; message: string; param: string | null } };
