import { DomainError } from '../errors/index.js';
import type { SamplingParameters } from '../inference/index.js';
import type { GenerationDefaults } from '../models/index.js';
import type { CreateResponseDto } from './dto/create-response.dto.js';

const MOST_STOPS = 4;
const LONGEST_STOP = 1024;
const MOST_BIASES = 1024;
const LARGEST_BIAS = 100;

/** How tokens are drawn: what the request says, else what the model's own files say (WIRE B3, defaults). */
export function samplingOf(dto: CreateResponseDto, defaults: GenerationDefaults): SamplingParameters {
  return {
    temperature: dto.temperature ?? defaults.temperature,
    topK: dto.top_k ?? defaults.topK,
    topP: dto.top_p ?? defaults.topP,
    minP: dto.min_p ?? defaults.minP,
    repetitionPenalty: dto.repetition_penalty ?? defaults.repetitionPenalty,
    presencePenalty: dto.presence_penalty ?? 0,
    frequencyPenalty: dto.frequency_penalty ?? 0,
    logitBias: logitBiasOf(dto.logit_bias, defaults.vocabularySize),
  };
}

/** Stop strings as a list. Throws invalid_value or invalid_type naming the one that is wrong; an empty one is. */
export function stopsOf(given: string | unknown[] | null | undefined): string[] {
  if (given === null || given === undefined) return [];
  if (typeof given === 'string') return [stopOf(given, 'stop')];
  if (given.length > MOST_STOPS) throw refused('stop', `may have at most ${MOST_STOPS} entries`);
  return given.map((each, index) => stopOf(each, `stop[${index}]`));
}

function stopOf(value: unknown, param: string): string {
  if (typeof value !== 'string') throw new DomainError('invalid_type', `'${param}' must be a string.`, { param });
  if (value === '') throw refused(param, 'must not be empty');
  if (value.length > LONGEST_STOP) throw refused(param, `may have at most ${LONGEST_STOP} characters`);
  return value;
}

function logitBiasOf(
  given: Record<string, unknown> | null | undefined,
  vocabularySize: number | null,
): Record<string, number> {
  const entries = Object.entries(given ?? {});
  if (entries.length > MOST_BIASES) throw refused('logit_bias', `may have at most ${MOST_BIASES} entries`);
  for (const [token, bias] of entries) {
    if (!/^\d{1,9}$/.test(token)) throw refused('logit_bias', 'must have token ids as keys');
    if (Number(token) >= (vocabularySize ?? Infinity)) {
      throw refused('logit_bias', `names the token ${token}; the model has the ids 0 to ${vocabularySize! - 1}`);
    }
    const fits = typeof bias === 'number' && Math.abs(bias) <= LARGEST_BIAS;
    if (!fits) throw refused(`logit_bias.${token}`, `must be a number from -${LARGEST_BIAS} to ${LARGEST_BIAS}`);
  }
  return (given ?? {}) as Record<string, number>;
}

/** A seed for a request that names none, any integer that JSON carries exactly. No secret: the response tells it. */
export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 53);
}

function refused(param: string, rule: string): DomainError {
  return new DomainError('invalid_value', `'${param}' ${rule}.`, { param });
}
