import type { ResponseUsage } from './response-object.js';

/** Tokens; those of the reasoning are among the output. */
export function usage(input: number, output: number, reasoning: number): ResponseUsage {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
