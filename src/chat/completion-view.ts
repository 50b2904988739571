import { serviceVersion } from '../config/index.js';
import type { ResponseObject } from '../responses/index.js';
import type { ResponseEvent } from './response-event.js';

/** A response in the form of one of OpenAI's older endpoints, whole and piece by piece. One for each request. */
export interface CompletionView {
  /** The answer to a request without `stream`, of a response that has ended well. */
  whole(response: ResponseObject): object;
  /** The chunks that the next event of the response becomes, perhaps none: a pure function of the events so far. */
  chunks(event: ResponseEvent): object[];
}

/** Build of the service: with the same one, model and seed, an answer comes out the same. */
export const SYSTEM_FINGERPRINT = `lmsp-${serviceVersion()}`;

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
  completion_tokens_details: { reasoning_tokens: number };
}

export function usageOf({ usage }: ResponseObject): CompletionUsage {
  return {
    prompt_tokens: usage?.input_tokens ?? 0,
    completion_tokens: usage?.output_tokens ?? 0,
    total_tokens: usage?.total_tokens ?? 0,
    prompt_tokens_details: { cached_tokens: usage?.input_tokens_details.cached_tokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage?.output_tokens_details.reasoning_tokens ?? 0 },
  };
}

/** The response's id under another prefix. */
export function completionId(prefix: string, { id }: ResponseObject): string {
  return `${prefix}-${id.slice(id.indexOf('_') + 1)}`;
}

/** The response of a terminal event that ends well. */
export function endOf({ type, response }: ResponseEvent): ResponseObject | null {
  return type === 'response.completed' || type === 'response.incomplete' ? (response ?? null) : null;
}
