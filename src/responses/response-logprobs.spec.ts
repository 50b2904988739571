import { describe, expect, it } from 'vitest';
import { ResponseEvents, type TextStep } from './response-events.js';
import { foldOutput } from './response-fold.js';
import type { OutputItem } from './response-object.js';

const step = (text: string, finish: TextStep['finish'] = null): TextStep => ({
  text,
  finish,
  logprobs: { tokenId: 1, text, bytes: [...Buffer.from(text)], logprob: -0.5, top: [] },
});

const run = (events: ResponseEvents, steps: TextStep[]): string[] =>
  steps.flatMap((each) => events.next(each)).map(({ type, payload }) => JSON.stringify({ type, ...payload }));

const tokensOf = (output: OutputItem[]): string[] =>
  output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .flatMap(({ logprobs }) => logprobs.map(({ token }) => token));

describe('log probabilities (WIRE B5)', () => {
  it('go out with the text of their tokens, those of held-back text with the next', () => {
    const payloads = run(new ResponseEvents('resp_1', 0), [step('a'), step(''), step('b'), step('', 'stop')]);
    const output = foldOutput([], payloads);
    expect(tokensOf(output)).toEqual(['a', '', 'b']);
    expect(foldOutput([], payloads.slice(0, -3))).toMatchObject([{ content: [{ logprobs: [{}, {}, {}] }] }]);
  });

  it('of an earlier attempt are those that readers have seen', () => {
    const whole = run(new ResponseEvents('resp_1', 0), [step('a'), step('b'), step('', 'stop')]);
    const seen = foldOutput([], run(new ResponseEvents('resp_1', 0), [step('a')]));
    const resumed = new ResponseEvents('resp_1', 0);
    resumed.next({ text: 'a', finish: null });
    resumed.adopt(seen);
    expect(foldOutput(seen, run(resumed, [step('b'), step('', 'stop')]))).toEqual(foldOutput([], whole));
  });
});
