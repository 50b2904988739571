import { describe, expect, it } from 'vitest';
import { defaultsIn } from './generation-defaults.js';

describe('generation_config.json (WIRE B3, defaults)', () => {
  it('is greedy where it says do_sample: false, whatever temperature it names', () => {
    expect(defaultsIn('{"do_sample":false,"temperature":0.7}').temperature).toBe(0);
  });

  it('gives its own values, and 1 or off where it says nothing', () => {
    expect(defaultsIn('{"temperature":0.6,"top_k":20}')).toEqual({
      temperature: 0.6,
      topK: 20,
      topP: 1,
      minP: 0,
      repetitionPenalty: 1,
      vocabularySize: null,
    });
  });

  it.each(['{}', 'no json', '[]', 'null', '{"temperature":"hot"}'])('reads %s as nothing said', (text) => {
    const nothing = { temperature: 1, topK: 0, topP: 1, minP: 0, repetitionPenalty: 1, vocabularySize: null };
    expect(defaultsIn(text, text)).toEqual(nothing);
  });

  it('takes the search settings of onnxruntime-genai where the folder has no other', () => {
    const genai = '{"model":{"vocab_size":9},"search":{"do_sample":true,"temperature":0.7,"top_k":40}}';
    expect(defaultsIn('{}', '{}', genai)).toMatchObject({ temperature: 0.7, topK: 40, vocabularySize: 9 });
    expect(defaultsIn('{"top_p":0.5}', '{}', genai)).toMatchObject({ temperature: 1, topK: 0, topP: 0.5 });
  });

  it('knows how many tokens there are where config.json says so', () => {
    expect(defaultsIn('{}', '{"vocab_size":1024}').vocabularySize).toBe(1024);
    expect(defaultsIn('{}', '{"vocab_size":"many"}').vocabularySize).toBeNull();
  });
});
