import { applyDecorators } from '@nestjs/common';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { Meaning } from '../openapi/index.js';

const LONGEST_SECONDS = 366 * 86_400;

/** Field `keep_alive_seconds` of a body. */
export function KeepAliveField(
  meaning = 'The model stays loaded so long when nobody uses it; -1: for ever',
): PropertyDecorator {
  return applyDecorators(IsOptional(), IsInt(), Min(-1), Max(LONGEST_SECONDS), Meaning(meaning));
}
