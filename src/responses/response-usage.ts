import type { ResponseUsage } from './response-object.js';

/** Tokens; the cached ones are among the input, those of the reasoning among the output. */
interface TokenCounts {
  input: number;
  cached: number;
  output: number;
  reasoning: number;
}

export function usage({ input, cached, output, reasoning }: TokenCounts): ResponseUsage {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
