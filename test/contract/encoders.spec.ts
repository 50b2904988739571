import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EncoderModel, EncoderSpec } from '../../src/inference/index.js';
import { tinyScore, writeTinyReranker } from '../support/tiny-reranker.js';
import { cosine, POCKET_EMBED, realEncoders } from './encoders.js';

const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), 'lmsp-encoders-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an encoder in its process: pocket-embed', () => {
  let model: EncoderModel;
  beforeAll(async () => {
    model = await realEncoders().open(POCKET_EMBED);
  });
  afterAll(() => model.close());

  const TEXTS = ['How do I reset my password?', 'I cannot log in', 'The stock market fell on Monday.', 'x'];

  it('is what its files say', () => {
    expect(model.info).toMatchObject({
      contextLength: 128,
      dimensions: 128,
      normalized: true,
      warnings: [],
      exact: null,
    });
    expect(model.info.batchRows).toBeGreaterThan(1);
  });

  it('gives the same vectors in a batch as one by one, in the order of the texts', async () => {
    const together = await model.encode({ texts: TEXTS }, never);
    for (const [i, text] of TEXTS.entries()) {
      const [alone] = await model.encode({ texts: [text] }, never);
      expect(alone!.tokens).toBe(together[i]!.tokens);
      const difference = alone!.values.map((value, at) => Math.abs(value - together[i]!.values[at]!));
      expect(Math.max(...difference)).toBeLessThan(1e-5);
      expect(cosine(alone!.values, alone!.values)).toBeCloseTo(1, 5);
    }
  });

  it('answers concurrent requests each with its own', async () => {
    const alone = await Promise.all(TEXTS.map((text) => model.encode({ texts: [text] }, never)));
    const both = await Promise.all([
      model.encode({ texts: TEXTS }, never),
      model.encode({ texts: [...TEXTS].reverse() }, never),
    ]);
    const order = (texts: string[], at: number): number => TEXTS.indexOf(texts[at]!);
    for (const [which, texts] of [TEXTS, [...TEXTS].reverse()].entries()) {
      texts.forEach((_, at) => {
        const [own] = alone[order(texts, at)]!;
        expect(cosine(both[which]![at]!.values, own!.values)).toBeGreaterThan(0.9999);
      });
    }
  });

  it('drops what is aborted, and goes on with the rest', async () => {
    const client = new AbortController();
    const dropped = model.encode({ texts: new Array<string>(500).fill('a long list of texts') }, client.signal);
    const other = model.encode({ texts: ['another'] }, never);
    client.abort(new Error('gone'));
    await expect(dropped).rejects.toThrow('gone');
    await expect(other).resolves.toHaveLength(1);
    await expect(model.encode({ texts: ['a'] }, client.signal)).rejects.toThrow('gone');
    expect((await model.activity()).rows).toBe(0);
  });

  it('is idle between requests', async () => {
    expect(await model.activity()).toMatchObject({ rows: 0, cachedTokens: 0, silentMs: 0 });
  });
});

describe('the death of an encoder', () => {
  it('fails what was under way, and tells whether one request was alone with it', async () => {
    const runnersDirectory = mkdtempSync(join(tmpdir(), 'lmsp-runners-'));
    const model = await realEncoders({ runnersDirectory }).open(POCKET_EMBED);
    const [note] = readdirSync(runnersDirectory);
    const request = model.encode({ texts: new Array<string>(2000).fill('a b c d e f g h') }, never);
    process.kill(Number.parseInt(note!, 10), 'SIGKILL');
    await expect(request).rejects.toMatchObject({ code: 'model_error' });
    expect(await model.gone).toMatchObject({ expected: false, stalled: false, blamed: true });
    await expect(model.encode({ texts: ['a'] }, never)).rejects.toMatchObject({ code: 'model_error' });
    expect(readdirSync(runnersDirectory)).toEqual([]);
  });

  it('is 503 for what is under way when the service closes it', async () => {
    const model = await realEncoders().open(POCKET_EMBED);
    const request = model.encode({ texts: new Array<string>(2000).fill('a b c d e f g h') }, never);
    const refused = expect(request).rejects.toMatchObject({ code: 'server_shutting_down' });
    await model.close();
    await refused;
    expect(await model.gone).toMatchObject({ expected: true });
  });
});

describe('a cross-encoder', () => {
  it('scores each text for the question, in a batch as one by one', async () => {
    const directory = join(folder, 'reranker');
    await writeTinyReranker(directory);
    const spec: EncoderSpec = { ...POCKET_EMBED, id: 'tiny', task: 'rerank', directory };
    const model = await realEncoders().open(spec);
    expect(model.info).toMatchObject({ contextLength: 16, dimensions: 1, batchRows: 32 });
    const query = 'what is a cat';
    const texts = ['a cat is an animal', 'stone', 'a dog is an animal'];
    const scores = await model.encode({ texts, query }, never);
    texts.forEach((text, i) => expect(scores[i]!.values[0]).toBeCloseTo(tinyScore(query, text), 5));
    expect(scores[1]!.tokens).toBe(8);
    await expect(model.encode({ texts: ['a '.repeat(20)], query }, never)).rejects.toMatchObject({
      code: 'context_length_exceeded',
      index: 0,
    });
    await model.close();
  });
});

describe('a folder that is no encoder', () => {
  const copied = async (name: string): Promise<string> => {
    const directory = join(folder, name);
    await cp(POCKET_EMBED.directory, directory, { recursive: true });
    return directory;
  };
  const refusal = (spec: Partial<EncoderSpec>): Promise<unknown> =>
    realEncoders()
      .open({ ...POCKET_EMBED, ...spec })
      .then(
        () => 'opened',
        ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
      );

  it('is refused with the file, input or output at fault', async () => {
    const [dense, pooling, broken] = await Promise.all(['dense', 'pooling', 'broken'].map(copied));
    await writeFile(
      join(dense!, 'modules.json'),
      '[{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]',
    );
    const both = '{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}';
    await writeFile(join(pooling!, '1_Pooling/config.json'), both);
    await writeFile(join(broken!, 'onnx/model.onnx'), 'no graph');
    expect(await refusal({ directory: dense! })).toContain('modules.json: the module Dense is not supported');
    expect(await refusal({ directory: pooling! })).toContain('1_Pooling/config.json: the pooling mean and cls');
    expect(await refusal({ directory: broken! })).toContain('model_load_failed: onnx/model.onnx: ');
    expect(await refusal({ task: 'rerank' })).toContain('output logits is missing');
    const llm = join(POCKET_EMBED.directory, '../pocket');
    expect(await refusal({ directory: llm })).toContain('onnx/model.onnx: input past_key_values');
  });
});
