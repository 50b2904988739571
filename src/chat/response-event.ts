import type { ResponseObject } from '../responses/index.js';

/** Of one token, as output_text parts and deltas tell them. */
export interface TextLogprob {
  token: string;
  logprob: number;
  bytes?: number[];
  top_logprobs?: TextLogprob[];
}

/** What is read of an item of the output. */
export interface ReadItem {
  type: string;
  call_id?: string;
  name?: string;
  arguments?: string;
  content?: { type: string; text?: string; logprobs?: unknown[] }[];
  summary?: { type: string; text?: string }[];
}

/** What is read of an event of a response (WIRE B5). */
export interface ResponseEvent {
  type: string;
  output_index?: number;
  item?: ReadItem;
  delta?: string;
  logprobs?: TextLogprob[];
  response?: ResponseObject;
}
