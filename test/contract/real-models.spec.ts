import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadTokenDecoder, type EngineModel, type PromptCodec } from '../../src/inference/index.js';
import { readGraph } from '../../src/graphs/index.js';
import { leadAtFirstDifference, realModels, referenceOf, SMOLLM, SMOLLM_PLAIN } from '../support/real-models.js';
import { POCKET, realCodec, realEngine } from './pocket.js';
import { Recording, request } from './recording.js';

const MODELS = realModels('answers of real models against their reference');
/** Recorded ids that are compared of each answer: enough for near ties to show, few enough for a busy machine. */
const COMPARED = 10;
/** A lead below it may be lost on another processor. */
const NEAR_TIE = 1;

const KINDS = [
  { name: SMOLLM, kvMode: 'in-place' as const, outside: [{ location: 'model_q4.onnx_data', leastBytes: 102_987_008 }] },
  { name: SMOLLM_PLAIN, kvMode: 'copying' as const, outside: [] },
];

if (MODELS === null) it('has no real models here', () => expect(MODELS).toBeNull());
else
  describe.each(KINDS)('$name', ({ name, kvMode, outside }) => {
    it('says in its graph where its weights are', () => {
      expect(readGraph(join(MODELS, name, 'onnx/model_q4.onnx')).externalFiles).toEqual(outside);
    });
    answersRightly(join(MODELS, name), kvMode);
  });

function answersRightly(directory: string, kvMode: 'in-place' | 'copying'): void {
  const reference = referenceOf(directory);
  let codec: PromptCodec;
  let model: EngineModel;
  beforeAll(async () => {
    codec = realCodec();
    model = await realEngine().open({ ...POCKET, id: directory, directory, graphFile: 'onnx/model_q4.onnx' });
  });
  afterAll(async () => {
    await model.close();
    await codec.close();
  });

  it('is opened as its graph demands, and resumes exactly', () => {
    expect(model.info).toMatchObject({ kvMode, contextLength: 8192, vocabularySize: 49_152, endTokenIds: [2] });
    expect(model.info.exact.resume).toBe(true);
  });

  it('renders and tokenises all 14 conversations as recorded', async () => {
    expect(reference.items).toHaveLength(14);
    for (const { name, messages, prompt_ids: ids } of reference.items) {
      expect((await codec.encodeChat(directory, messages)).ids, name).toEqual(ids);
    }
  });

  it('reads and writes all recorded strings', async () => {
    const { decode } = await loadTokenDecoder(directory);
    for (const { text, ids, decoded_skip_special: decoded } of reference.tokenizer ?? []) {
      expect(await codec.encodeText(directory, text), JSON.stringify(text)).toEqual(ids);
      expect(ids.length === 0 ? '' : decode(ids)).toBe(decoded);
    }
  });

  it('answers greedily as recorded, but for near ties', async () => {
    for (const item of reference.items) {
      const maxOutputTokens = Math.min(COMPARED, item.greedy_ids.length);
      const run = new Recording(model, request(item.prompt_ids, { maxOutputTokens }));
      await run.ended;
      const ids = run.steps.map(({ tokenId }) => tokenId);
      const lead = leadAtFirstDifference(item, ids);
      expect(lead === Infinity ? ids.length === maxOutputTokens : lead < NEAR_TIE, item.name).toBe(true);
    }
  }, 120_000);
}
