import { describe, expect, it } from 'vitest';
import { alone, Bench, prompt, PROMPTS } from '../../../test/support/scheduler-bench.js';
import type { GenerationStep, LoggedToken } from '../inference-engine.js';
import { ONE_CLASS, type KernelRules } from './kernel-rules.js';

describe('a replay (ENGINE 4.8)', () => {
  const TWO_CLASSES: KernelRules = { loneRowDiffers: true, alwaysBatch: false, fixedChunks: false };
  const logOf = (steps: GenerationStep[], count: number): LoggedToken[] =>
    steps.slice(0, count).map(({ tokenId, kernelClass }) => ({ tokenId, kernelClass }));
  /** What the cache of a row was made of: ids, and how each was written. */
  const cacheOf = (bench: Bench, row: number): number[] => bench.model.cache(row);

  it('goes on with the tokens and indices of the uninterrupted run, whatever runs beside it', async () => {
    const whole = await stepsAlone(prompt(90, 3), 40, ONE_CLASS);
    for (const count of [1, 2, 17, 39]) {
      const bench = new Bench(3);
      bench.add('beside', prompt(4), 100);
      await bench.run(3);
      bench.add('resumed', prompt(90, 3), 40, logOf(whole, count));
      await bench.run();
      expect(bench.steps.get('resumed')!.map(({ index, tokenId, text }) => [index, tokenId, text])).toEqual(
        whole.slice(count).map(({ index, tokenId, text }) => [index, tokenId, text]),
      );
      const counts = bench.reports.flatMap((report) => report.replayed.map(([, tokens]) => tokens));
      expect(counts).toEqual(Array.from({ length: count }, (_, i) => i + 1));
      const rebuilt = bench.reports.flatMap((report) => report.rebuilt);
      expect(rebuilt).toEqual([['resumed', whole.slice(0, count).map(({ text, finish }) => ({ text, finish }))]]);
    }
  });

  it('writes each token with the kernels it was once written with: alone where it was alone, beside others where it was not', async () => {
    // Alone, then beside another, then alone again.
    const first = new Bench(3, TWO_CLASSES);
    first.add('whole', prompt(5), 60);
    await first.run(8);
    first.add('visitor', prompt(3), 10);
    await first.run();
    const whole = first.steps.get('whole')!;
    expect(new Set(whole.map((step) => step.kernelClass))).toEqual(new Set(['alone', 'batch']));
    const written = cacheOf(first, 0).slice(0, 5 + 39);

    const lone = new Bench(3, TWO_CLASSES);
    lone.add('resumed', prompt(5), 60, logOf(whole, 40));
    await lone.run();
    expect(cacheOf(lone, 0).slice(0, 5 + 39)).toEqual(written);
    expect(lone.ids('resumed')).toEqual(whole.slice(40).map((step) => step.tokenId));

    const beside = new Bench(3, TWO_CLASSES);
    beside.add('other', prompt(4), 200);
    await beside.run(3);
    beside.add('resumed', prompt(5), 60, logOf(whole, 40));
    await beside.run(45);
    expect(cacheOf(beside, 1).slice(0, 5 + 39)).toEqual(written);
    await beside.run();
    const undisturbed = await stepsAlone(prompt(4), 2, TWO_CLASSES);
    expect(beside.ids('other').slice(0, 2)).toEqual(undisturbed.map((step) => step.tokenId));
    expect(beside.ends.get('other')).toMatchObject({ outcome: 'finished' });
  });

  it('gives a lone row a partner that harms no prompt on its way, nor the row that has just taken one in', async () => {
    const rules = { ...TWO_CLASSES, alwaysBatch: true };
    const together = new Bench(3, rules);
    PROMPTS.forEach((ids, i) => together.add(`g${i}`, ids, 4 + 3 * i));
    await together.run();
    for (const [i, ids] of PROMPTS.entries()) {
      const alone = await stepsAlone(ids, 4 + 3 * i, rules);
      expect(together.ids(`g${i}`), `g${i}`).toEqual(alone.map((step) => step.tokenId));
      expect(new Set(alone.slice(1).map((step) => step.kernelClass))).toEqual(new Set(['batch']));
    }
  });

  it('whose log holds the end ends at once, as it did, and decodes nothing', async () => {
    const whole = await stepsAlone(prompt(3), 6, ONE_CLASS);
    const bench = new Bench(1);
    bench.add('ended', prompt(3), 6, logOf(whole, 6));
    await bench.run();
    expect(bench.ends.get('ended')).toEqual({ outcome: 'finished', finish: 'limit' });
    expect(bench.reports.flatMap((report) => [...report.steps, ...report.prefilled])).toEqual([]);
  });

  it('whose log goes on behind its end fails, and harms no other', async () => {
    const bench = new Bench(2);
    bench.add('wrong', prompt(3), 2, logOf(await stepsAlone(prompt(3), 4, ONE_CLASS), 4));
    bench.add('sound', prompt(4), 20);
    await bench.run();
    expect(bench.ends.get('wrong')).toMatchObject({ outcome: 'failed', message: /has ended/ });
    expect(bench.ids('sound')).toEqual(await alone(prompt(4), 20));
  });
});

async function stepsAlone(promptIds: number[], tokens: number, rules: KernelRules): Promise<GenerationStep[]> {
  const bench = new Bench(1, rules);
  bench.add('alone', promptIds, tokens);
  await bench.run();
  return bench.steps.get('alone')!;
}
