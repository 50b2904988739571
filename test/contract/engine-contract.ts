/** What every engine must do, as tests: run on the real engine and on the fake one, so that the fake stays honest. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STEP_WINDOW, type EngineModel, type InferenceEngine, type ModelSpec } from '../../src/inference/index.js';
import { waitFor } from '../support/wait-for.js';
import { endlessRequest, Recording, request, runTogether } from './recording.js';
import { replayContract } from './replay-contract.js';

export interface EngineUnderTest {
  engine: InferenceEngine;
  spec: ModelSpec;
  /** Prompts with different, finite, greedy answers of at least 6 characters; `request` bans end tokens to make one endless. */
  prompts: number[][];
}

const ROWS = 4;

export function engineContract(name: string, start: () => Promise<EngineUnderTest>): void {
  describe(`the engine port: ${name}`, () => {
    let under: EngineUnderTest;
    let model: EngineModel;
    const open = (rows = ROWS): Promise<EngineModel> => under.engine.open({ ...under.spec, rows });

    beforeAll(async () => {
      under = await start();
      model = await open();
    });
    afterAll(() => model.close());

    describe('steps', () => {
      it('come in order from 0, the last alone with a finish, and ended settles after it (WIRE B5 invariant 8)', async () => {
        const run = new Recording(model, request(under.prompts[0]!));
        let stepsAtEnd = -1;
        void run.ended.then(() => (stepsAtEnd = run.steps.length));
        expect(await run.ended).toEqual({ outcome: 'finished', finish: 'stop' });
        expect(run.steps.map((step) => step.index)).toEqual(run.steps.map((_, i) => i));
        expect(run.steps.map((step) => step.finish)).toEqual([...run.steps.slice(1).map(() => null), 'stop']);
        expect(stepsAtEnd).toBe(run.steps.length);
        expect(model.info.endTokenIds).toContain(run.steps.at(-1)!.tokenId);
      });

      it('report the prompt as it is taken in, growing up to its length', async () => {
        const ids = Array.from({ length: 300 }, (_, i) => under.prompts[0]![i % under.prompts[0]!.length]!);
        const run = new Recording(model, request(ids, { maxOutputTokens: 1 }));
        await run.ended;
        expect(run.prefilled.length).toBeGreaterThan(1);
        expect(run.prefilled).toEqual([...new Set(run.prefilled)].sort((a, b) => a - b));
        expect(run.prefilled.at(-1)).toBe(300);
      });

      it('name the kernel class: alone for a lone row, batch beside others (ENGINE 2.8)', async () => {
        const alone = new Recording(model, request(under.prompts[0]!));
        await alone.ended;
        expect(new Set(alone.steps.map((step) => step.kernelClass))).toEqual(new Set(['alone']));
        const pair = [0, 1].map((i) => new Recording(model, endlessRequest(model, under.prompts[i]!, 20)));
        await Promise.all(pair.map((run) => run.ended));
        expect(pair[0]!.steps.some((step) => step.kernelClass === 'batch')).toBe(true);
      });
    });

    it('tells what it is doing: sequences, tokens in the cache, memory; nothing when idle (OPERATE 3.2)', async () => {
      const capacity = ROWS * model.info.contextLength;
      const idle = { rows: 0, cachedTokens: 0, cacheCapacityTokens: capacity, prefixBytes: 0, silentMs: 0 };
      expect(await model.activity()).toMatchObject(idle);
      const prompt = under.prompts[0]!;
      const run = new Recording(model, endlessRequest(model, prompt, 1000));
      await waitFor('some steps', () => run.steps.length > 3);
      const busy = await model.activity();
      expect(busy).toMatchObject({ rows: 1, cacheCapacityTokens: capacity });
      expect(busy.cachedTokens).toBeGreaterThan(prompt.length + 3);
      expect(busy.residentBytes).toBeGreaterThanOrEqual(1_000_000);
      run.generation.cancel();
      await run.ended;
      expect(await model.activity()).toMatchObject(idle);
    });

    describe('ends', () => {
      it('end by limit after exactly the allowed number of tokens', async () => {
        const run = new Recording(model, endlessRequest(model, under.prompts[0]!, 7));
        expect(await run.ended).toEqual({ outcome: 'finished', finish: 'limit' });
        expect(run.steps).toHaveLength(7);
      });

      it('end by limit when prompt and output fill the context (BL-25)', async () => {
        const room = 3;
        const ids = Array.from({ length: model.info.contextLength - room }, () => under.prompts[0]![0]!);
        const run = new Recording(model, endlessRequest(model, ids, 100));
        expect(await run.ended).toEqual({ outcome: 'finished', finish: 'limit' });
        expect(run.steps).toHaveLength(room);
      });

      it('end before a stop string and let nothing of it out (BL-22)', async () => {
        const whole = new Recording(model, request(under.prompts[0]!));
        await whole.ended;
        const stop = whole.text.slice(3, 6);
        const run = new Recording(model, request(under.prompts[0]!, { stop: [stop] }));
        expect(await run.ended).toEqual({ outcome: 'finished', finish: 'stop' });
        expect(run.text).toBe(whole.text.slice(0, whole.text.indexOf(stop)));
      });

      it('do not mind an end token inside the prompt (BL-23)', async () => {
        const run = new Recording(
          model,
          request([...model.info.endTokenIds, ...under.prompts[0]!], { maxOutputTokens: 2 }),
        );
        expect(await run.ended).toMatchObject({ outcome: 'finished' });
      });

      it('lose one generation, and no other, to a listener that throws', async () => {
        const other = new Recording(model, request(under.prompts[1]!));
        const generation = model.generate(request(under.prompts[0]!), {
          step() {
            throw new Error('a broken listener');
          },
        });
        expect(await generation.ended).toMatchObject({ outcome: 'failed', message: /a broken listener/ });
        expect(await other.ended).toMatchObject({ outcome: 'finished' });
      });
    });

    describe('refusals', () => {
      it.each([-1, 1.5, NaN, Infinity])('refuse the token id %s, which would harm the whole batch', (id) => {
        expect(() => new Recording(model, request([...under.prompts[0]!, id]))).toThrow(
          expect.objectContaining({ code: 'invalid_value', param: 'input' }),
        );
      });

      it('refuse a token id beyond the vocabulary, as a logit bias too', () => {
        const beyond = model.info.vocabularySize;
        expect(() => new Recording(model, request([beyond]))).toThrow(`token id ${beyond}`);
        expect(() => new Recording(model, request([1], { logitBias: { [beyond]: 1 } }))).toThrow(
          expect.objectContaining({ code: 'invalid_value', param: 'logit_bias' }),
        );
      });

      it('refuse a prompt that leaves no room for output, with both numbers (BL-25)', () => {
        const { contextLength } = model.info;
        for (const length of [contextLength, contextLength + 1, 10 * contextLength]) {
          const ids = Array.from({ length }, () => 1);
          expect(() => new Recording(model, request(ids))).toThrow(
            expect.objectContaining({
              code: 'context_length_exceeded',
              message: expect.stringMatching(new RegExp(`${length} tokens.*${contextLength} tokens`)) as string,
            }),
          );
        }
      });

      it('refuse an empty prompt, no output tokens, a seed that is no integer', () => {
        expect(() => new Recording(model, request([]))).toThrow(expect.objectContaining({ param: 'input' }));
        expect(() => new Recording(model, request([1], { maxOutputTokens: 0 }))).toThrow(
          expect.objectContaining({ param: 'max_output_tokens' }),
        );
        expect(() => new Recording(model, request([1], { seed: 0.5 }))).toThrow(
          expect.objectContaining({ param: 'seed' }),
        );
      });

      it('refuse a second generation under a name that is in use, and leave the first alone', async () => {
        const first = request(under.prompts[0]!);
        const run = new Recording(model, first);
        expect(() => new Recording(model, first)).toThrow(first.id);
        expect(await run.ended).toMatchObject({ outcome: 'finished' });
      });
    });

    describe('cancel', () => {
      it('ends a decoding row before a later step, once, and the next one takes its place', async () => {
        const run = new Recording(model, endlessRequest(model, under.prompts[0]!, 1000));
        await waitFor('some steps', () => run.steps.length > 3);
        run.generation.cancel();
        run.generation.cancel();
        expect(await run.ended).toEqual({ outcome: 'cancelled' });
        expect(run.steps.every((step) => step.finish === null)).toBe(true);
        const count = run.steps.length;
        expect(await new Recording(model, request(under.prompts[1]!)).ended).toMatchObject({ outcome: 'finished' });
        expect(run.steps).toHaveLength(count);
      });

      it('ends a row while its prompt is taken in', async () => {
        const ids = Array.from({ length: model.info.contextLength - 40 }, () => under.prompts[0]![0]!);
        const run = new Recording(model, endlessRequest(model, ids, 40), { acknowledging: false });
        await waitFor('the first chunk', () => run.prefilled.length > 0);
        run.generation.cancel();
        expect(await run.ended).toEqual({ outcome: 'cancelled' });
      });

      it('ends a generation that waits for a row, and changes nothing after the end', async () => {
        const busy = Array.from(
          { length: ROWS },
          () => new Recording(model, endlessRequest(model, under.prompts[0]!, 1000)),
        );
        const waiting = new Recording(model, request(under.prompts[1]!));
        await waitFor('all rows to be taken', () => busy.every((run) => run.steps.length > 0));
        waiting.generation.cancel();
        expect(await waiting.ended).toEqual({ outcome: 'cancelled' });
        expect(waiting.steps).toEqual([]);
        for (const run of busy) run.generation.cancel();
        await Promise.all(busy.map((run) => run.ended));
        busy[0]!.generation.cancel();
        busy[0]!.generation.acknowledge(0);
        expect(await busy[0]!.ended).toEqual({ outcome: 'cancelled' });
      });
    });

    describe('window', () => {
      it(`stops a row ${STEP_WINDOW} steps ahead of the disk, lets others run, and goes on when told`, async () => {
        const slow = new Recording(model, endlessRequest(model, under.prompts[0]!, 100), { acknowledging: false });
        await waitFor('a full window', () => slow.steps.length === STEP_WINDOW);
        const other = new Recording(model, endlessRequest(model, under.prompts[1]!, 3 * STEP_WINDOW));
        await other.ended;
        expect(slow.steps).toHaveLength(STEP_WINDOW);
        slow.generation.acknowledge(9);
        await waitFor('ten more steps', () => slow.steps.length === STEP_WINDOW + 10);
        slow.acknowledging = true;
        slow.generation.acknowledge(slow.steps.length - 1);
        expect(await slow.ended).toEqual({ outcome: 'finished', finish: 'limit' });
      });

      it('gives the same output however late the disk was', async () => {
        const free = new Recording(model, endlessRequest(model, under.prompts[0]!, 90));
        await free.ended;
        const late = new Recording(model, endlessRequest(model, under.prompts[0]!, 90), { acknowledging: false });
        const beside = new Recording(model, endlessRequest(model, under.prompts[1]!, 400));
        for (const full of [STEP_WINDOW, 2 * STEP_WINDOW]) {
          await waitFor('a full window', () => late.steps.length === full);
          late.generation.acknowledge(full - 1);
        }
        await Promise.all([late.ended, beside.ended]);
        expect(late.ids).toEqual(free.ids);
      });
    });

    describe('rows', () => {
      it('give each generation the output it has alone, whatever runs beside it', async () => {
        const requests = under.prompts.map((ids) => request(ids, { maxOutputTokens: 120 }));
        const alone: string[] = [];
        for (const each of requests) {
          const run = new Recording(model, each);
          await run.ended;
          alone.push(run.text);
        }
        const together = await runTogether(model, requests);
        expect(together.map((run) => run.text)).toEqual(alone);
      });

      it('are as many as asked for: the next one starts when one is free', async () => {
        const narrow = await open(2);
        const runs = [0, 1, 0].map(
          (i) => new Recording(narrow, endlessRequest(narrow, under.prompts[i]!, 500), { acknowledging: false }),
        );
        await waitFor('two full windows', () => runs[0]!.steps.length === 32 && runs[1]!.steps.length === 32);
        expect(runs[2]!.steps).toEqual([]);
        runs[0]!.generation.cancel();
        await waitFor('the third to start', () => runs[2]!.steps.length === 32);
        await narrow.close();
      });
    });

    replayContract(() => ({ model, prompts: under.prompts }));

    describe('close', () => {
      it('ends what runs and waits as lost, says that it was expected, and takes no more', async () => {
        const doomed = await open(1);
        const runs = [0, 1].map((i) => new Recording(doomed, endlessRequest(doomed, under.prompts[i]!, 1000)));
        await waitFor('a step', () => runs[0]!.steps.length > 0);
        await doomed.close();
        for (const run of runs) expect(await run.ended).toMatchObject({ outcome: 'lost' });
        expect(await doomed.gone).toMatchObject({ expected: true });
        const count = runs[0]!.steps.length;
        expect(await new Recording(doomed, request(under.prompts[0]!)).ended).toMatchObject({ outcome: 'lost' });
        expect(runs[0]!.steps).toHaveLength(count);
        await doomed.close();
      });

      it('gives every opened model an incarnation of its own', async () => {
        const other = await open(1);
        expect(other.incarnation).not.toBe(model.incarnation);
        await other.close();
      });
    });

    it('gives up a load when asked to', async () => {
      const signal = AbortSignal.abort();
      await expect(under.engine.open(under.spec, { signal })).rejects.toMatchObject({ code: 'model_load_failed' });
    });
  });
}
