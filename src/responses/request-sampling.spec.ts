import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import type { CreateResponseDto } from './dto/create-response.dto.js';
import { randomSeed, samplingOf, stopsOf } from './request-sampling.js';

const defaults = { temperature: 0, topK: 0, topP: 1, minP: 0, repetitionPenalty: 1, vocabularySize: null };
const request = (fields: Partial<CreateResponseDto>): CreateResponseDto => ({ model: 'm', input: 'x', ...fields });

describe('how tokens are drawn (WIRE B3)', () => {
  it('uses the model where the request says nothing or null', () => {
    expect(samplingOf(request({ top_p: null }), { ...defaults, temperature: 0.6, topK: 40 })).toEqual({
      temperature: 0.6,
      topK: 40,
      topP: 1,
      minP: 0,
      repetitionPenalty: 1,
      presencePenalty: 0,
      frequencyPenalty: 0,
      logitBias: {},
    });
  });

  it('uses the request where it speaks, zero included', () => {
    const sampling = samplingOf(request({ temperature: 0, top_k: 5, logit_bias: { 7: -100 } }), {
      ...defaults,
      temperature: 1,
    });
    expect(sampling).toMatchObject({ temperature: 0, topK: 5, logitBias: { 7: -100 } });
  });

  it.each([
    [{ word: 1 }, 'logit_bias'],
    [{ 7: 1, 1024: 1 }, 'logit_bias'],
    [{ 7: 101 }, 'logit_bias.7'],
    [{ 7: '1' }, 'logit_bias.7'],
    [{ 7: Infinity }, 'logit_bias.7'],
  ])('refuses the bias %j and names it', (bias, param) => {
    const refused = () => samplingOf(request({ logit_bias: bias }), { ...defaults, vocabularySize: 1024 });
    expect(refused).toThrow(expect.objectContaining({ code: 'invalid_value', param }));
  });

  it('takes a stop text or up to four', () => {
    expect([stopsOf(null), stopsOf('END'), stopsOf(['a', 'b', 'c', 'd'])]).toEqual([[], ['END'], ['a', 'b', 'c', 'd']]);
  });

  it.each([
    ['', 'invalid_value', 'stop'],
    [['a', ''], 'invalid_value', 'stop[1]'],
    [['a', 5], 'invalid_type', 'stop[1]'],
    [['a', 'b', 'c', 'd', 'e'], 'invalid_value', 'stop'],
  ])('refuses the stop %j (CASES BL-22)', (stop, code, param) => {
    expect(() => stopsOf(stop)).toThrow(expect.objectContaining({ code, param }));
  });

  it('draws seeds that JSON carries exactly', () => {
    const seeds = Array.from({ length: 200 }, randomSeed);
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
    expect(new Set(seeds).size).toBe(200);
  });
});
