import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineModel, GenerationRequest, ModelSpec } from '../../src/inference/index.js';
import { POCKET, POCKET_Q4, realEngine } from './pocket.js';
import { endlessRequest, Recording, runTogether } from './recording.js';

const BYTES = 8_388_608;
const OUTPUT_TOKENS = 40;

describe.each<[string, ModelSpec]>([
  ['8 bit', POCKET],
  ['4 bit, as its kernel classes are', POCKET_Q4],
])('the prefix cache of a real model, %s', (_, spec) => {
  let model: EngineModel;
  beforeAll(async () => {
    model = await realEngine().open({ ...spec, prefixCacheBytes: BYTES });
  });
  afterAll(() => model.close());

  /** Ids of no meaning, the same for the same seed. */
  const promptIds = (length: number, seed = 1): number[] =>
    Array.from({ length }, (_, i) => 3 + ((i * 7919 + seed * 104_729 + i * i * seed) % 1000));
  const ask = (ids: number[], cacheScope?: string): GenerationRequest => {
    const asked = endlessRequest(model, ids, OUTPUT_TOKENS);
    const sampling = { ...asked.sampling, temperature: 0.8 };
    return { ...asked, sampling, seed: 5, ...(cacheScope !== undefined && { cacheScope }) };
  };
  const run = async (request: GenerationRequest): Promise<Recording> => {
    const recording = new Recording(model, request);
    expect(await recording.ended).toMatchObject({ outcome: 'finished' });
    return recording;
  };

  it('changes no token: behind a hit or part of one, beside another, and of a resume (ENGINE 2.7, 4.8)', async () => {
    const cold = await run(ask(promptIds(300)));
    const first = await run(ask(promptIds(300), 'whole'));
    const again = await run(ask(promptIds(300), 'whole'));
    expect([cold.reused, first.reused, again.reused]).toEqual([0, 0, 256]);
    expect([first.ids, again.ids]).toEqual([cold.ids, cold.ids]);
    expect(again.prefilled).toEqual([300]);

    await run(ask(promptIds(150), 'part'));
    const longer = await run(ask(promptIds(300), 'part'));
    expect([longer.reused, longer.ids]).toEqual([128, cold.ids]);

    const visitor = { ...ask(promptIds(100, 2)), maxOutputTokens: 8 };
    const [beside] = await runTogether(model, [ask(promptIds(300), 'whole'), visitor]);
    expect(beside!.reused).toBe(256);
    expect(new Set(beside!.steps.slice(1).map(({ kernelClass }) => kernelClass))).toEqual(new Set(['alone', 'batch']));
    for (const whole of [again, beside!]) {
      for (const scope of ['whole', undefined]) {
        const resumed = await run({ ...ask(promptIds(300), scope), replay: whole.log(25) });
        expect([resumed.reused, resumed.ids]).toEqual([scope === 'whole' ? 256 : 0, whole.ids.slice(25)]);
      }
    }
    const { prefixBytes } = await model.activity();
    expect(prefixBytes).toBeGreaterThan(0);
    expect(prefixBytes).toBeLessThanOrEqual(BYTES);
  });

  it('gives a scope nothing of another one, and keeps nothing of a request without one (WIRE B8)', async () => {
    await run(ask(promptIds(200, 3)));
    const mine = await run(ask(promptIds(200, 3), 'mine'));
    const theirs = await run(ask(promptIds(200, 3), 'theirs'));
    const mineAgain = await run(ask(promptIds(200, 3), 'mine'));
    expect([mine.reused, theirs.reused, mineAgain.reused]).toEqual([0, 0, 192]);
  });
});
