import { IsInt, IsNumber, IsObject, IsOptional, Max, Min } from 'class-validator';
import { IsTextOrList } from '../../http/index.js';
import { either, listOf, mapOf, Meaning, nullable, number, text } from '../../openapi/index.js';

const STOP = nullable(either([text(), listOf(text())]));
const LOGIT_BIAS = nullable(mapOf(number(undefined, { minimum: -100, maximum: 100 })));

/** How tokens are drawn and where they end; the same fields in every request that makes text. */
export abstract class SamplingDto {
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(2)
  @Meaning("0 takes the likeliest token; absent: the model's own")
  temperature?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  @Meaning('Share of the probability that tokens are drawn from')
  top_p?: number | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  @Meaning('As many of the likeliest tokens are drawn from; 0: all')
  top_k?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  @Meaning('Least probability, relative to the likeliest token')
  min_p?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(-2)
  @Max(2)
  @Meaning('Against tokens that came already')
  presence_penalty?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(-2)
  @Max(2)
  @Meaning('Against tokens, the more often they came')
  frequency_penalty?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(0.01)
  @Max(10)
  @Meaning('Divides the logits of tokens that came already; 1: none')
  repetition_penalty?: number | null;

  /** Token id → -100..100, checked in `request-sampling.ts`. */
  @IsOptional()
  @IsObject()
  @Meaning('Token id to -100..100, added to its logit', LOGIT_BIAS)
  logit_bias?: Record<string, unknown> | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  @Meaning('Gives the same answer again; absent: random, and told in `lmsp.seed`')
  seed?: number | null;

  /** One text or up to four, checked in `request-sampling.ts`. */
  @IsOptional()
  @IsTextOrList()
  @Meaning('A text, or up to four, that ends the answer and is not part of it', STOP)
  stop?: string | unknown[] | null;
}
