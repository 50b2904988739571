import type { ErrorCode } from '../../errors/index.js';
import type { OutputConstraint } from '../output-constraint.js';
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

/** Whether the model's outputs can be held to something. */
export interface ConstraintJob {
  kind: 'constraint';
  directory: string;
  constraint: OutputConstraint;
  places: readonly string[];
}

export type TextJob = EncodeJob | DecodeJob | ConstraintJob;

/** Message to a text worker; the next one follows after its result. */
export interface ToTextWorker {
  job: TextJob;
  limitMs: number;
}

/** Token ids of an EncodeJob, the text of a DecodeJob, nothing of a ConstraintJob. */
export type TextValue = number[] | string | null;

export type TextResult = { value: TextValue } | { error: { code: ErrorCode; message: string; param: string | null } };
