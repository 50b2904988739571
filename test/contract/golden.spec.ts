import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineModel, PromptCodec } from '../../src/inference/index.js';
import { GOLDEN, POCKET, realCodec, realEngine } from './pocket.js';
import { Recording, request, runTogether } from './recording.js';

describe('the embedded model', () => {
  let model: EngineModel;
  let codec: PromptCodec;
  beforeAll(async () => {
    codec = realCodec();
    model = await realEngine().open(POCKET);
  });
  afterAll(async () => {
    await model.close();
    await codec.close();
  });

  it('makes the recorded prompt ids of all 40 golden cases', async () => {
    expect(GOLDEN).toHaveLength(40);
    for (const each of GOLDEN) {
      const { ids } = await codec.encodeChat(POCKET.directory, each.messages, { tools: each.tools });
      expect(ids, `case ${each.id}`).toEqual(each.promptIds);
    }
  });

  // The recorded texts are those of one kind of CPU; a near tie may fall the other way on another (ENGINE 2.8).
  it('gives at least 36 of the 40 recorded greedy texts, in batches of 8 rows', async () => {
    const runs = await runTogether(
      model,
      GOLDEN.map((each) => request(each.promptIds, { maxOutputTokens: each.maxTokens })),
    );
    const equal = GOLDEN.filter((each, i) => runs[i]!.text === each.text);
    expect(equal.length).toBeGreaterThanOrEqual(36);
  });

  it('gives the same text with the prompt cut into other chunks by rows that decode beside it', async () => {
    const long = GOLDEN.reduce((a, b) => (b.promptIds.length > a.promptIds.length ? b : a));
    const alone = new Recording(model, request(long.promptIds, { maxOutputTokens: 60 }));
    await alone.ended;
    const others = GOLDEN.slice(0, 4).map((each) => request(each.promptIds));
    const runs = await runTogether(model, [...others, request(long.promptIds, { maxOutputTokens: 60 })]);
    expect(runs.at(-1)!.text).toBe(alone.text);
  });
});
