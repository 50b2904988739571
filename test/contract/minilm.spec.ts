import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EncoderModel } from '../../src/inference/index.js';
import { realModels } from '../support/real-models.js';
import { realEncoders } from './encoders.js';

interface Reference {
  items: { text: string; token_ids: number[]; embedding: number[] }[];
}

/** Without AVX2 other kernels round other activations. */
const hasAvx2 = readFileSync('/proc/cpuinfo', 'utf8').includes(' avx2');
const tolerance = hasAvx2 ? 1e-4 : 2e-3;
const never = new AbortController().signal;

const folder = realModels('all-minilm-l6-v2');
if (folder === null) {
  // A file without a test is a failure to vitest.
  it('is left out: all-minilm-l6-v2 is not here', () => undefined);
} else {
  const directory = join(folder, 'all-minilm-l6-v2');
  describe('all-minilm-l6-v2, int8 weights (models/README.md)', () => {
    const { items } = JSON.parse(readFileSync(join(directory, 'reference.json'), 'utf8')) as Reference;
    const fitting = items.filter(({ token_ids: ids }) => ids.length < 256);
    let model: EncoderModel;
    beforeAll(async () => {
      const graphFile = 'onnx/model_quantized.onnx';
      model = await realEncoders().open({ id: 'minilm', task: 'embedding', directory, graphFile, threads: 2 });
    });
    afterAll(() => model.close());

    it('is what its files say: pooling, length of the vectors, 256 tokens and one text a run', () => {
      expect(model.info).toMatchObject({
        contextLength: 256,
        dimensions: 384,
        normalized: true,
        batchRows: 1,
        shorterDimensions: null,
        warnings: [],
      });
    });

    it("gives the Python reference's vectors, whatever is asked for beside them", async () => {
      const texts = fitting.map(({ text }) => text);
      const [encoded] = await Promise.all([model.encode({ texts }, never), model.encode({ texts: ['beside'] }, never)]);
      fitting.forEach(({ embedding, token_ids: ids }, i) => {
        expect(encoded[i]!.tokens).toBe(ids.length);
        const difference = Math.max(...embedding.map((value, at) => Math.abs(value - encoded[i]!.values[at]!)));
        expect(difference, texts[i]).toBeLessThan(tolerance);
      });
    });

    it('refuses a text over its limit and says how long it is', async () => {
      const long = items.find(({ token_ids: ids }) => ids.length === 256)!;
      await expect(model.encode({ texts: ['short', long.text] }, never)).rejects.toMatchObject({
        code: 'context_length_exceeded',
        index: 1,
        message: expect.stringMatching(/has \d{3} tokens; .* 256 at most/) as string,
      });
    });
  });
}
