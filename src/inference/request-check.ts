import { DomainError } from '../errors/index.js';
import type { EngineModelInfo, GenerationRequest } from './inference-engine.js';

/**
 * Refuses what would harm the whole batch or end in silence: an id out of range fails every row of a run, a negative
 * one wraps around unnoticed (ENGINE 7.21). Throws DomainError invalid_value or context_length_exceeded.
 */
export function checkRequest(request: GenerationRequest, info: EngineModelInfo): void {
  const { promptIds, maxOutputTokens, seed, sampling, replay = [] } = request;
  const { vocabularySize, contextLength } = info;
  if (promptIds.length === 0) throw new DomainError('invalid_value', 'the prompt holds no tokens', { param: 'input' });
  if (promptIds.length >= contextLength) {
    throw new DomainError(
      'context_length_exceeded',
      `the prompt has ${promptIds.length} tokens; this model's context holds ${contextLength} tokens, prompt and output together`,
      { param: 'input' },
    );
  }
  const isTokenId = (id: number): boolean => Number.isInteger(id) && id >= 0 && id < vocabularySize;
  const wrong = [...promptIds, ...replay.map(({ tokenId }) => tokenId)].find((id) => !isTokenId(id));
  if (wrong !== undefined) {
    throw new DomainError('invalid_value', `token id ${wrong} is not in 0..${vocabularySize - 1}`, { param: 'input' });
  }
  const wrongBias = Object.keys(sampling.logitBias).find((id) => !isTokenId(Number(id)));
  if (wrongBias !== undefined) {
    throw new DomainError('invalid_value', `token id ${wrongBias} is not in 0..${vocabularySize - 1}`, {
      param: 'logit_bias',
    });
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new DomainError('invalid_value', 'the seed must be an integer from 0 to 2^53 - 1', { param: 'seed' });
  }
  if (!Number.isInteger(maxOutputTokens) || maxOutputTokens < 1) {
    throw new DomainError('invalid_value', 'at least one output token must be allowed', { param: 'max_output_tokens' });
  }
}
