/** What every engine must do with the log of an earlier attempt (ENGINE 4.8); part of the engine contract. */
import { describe, expect, it } from 'vitest';
import { STEP_WINDOW, type EngineModel } from '../../src/inference/index.js';
import { waitFor } from '../support/wait-for.js';
import { endlessRequest, Recording, request } from './recording.js';

export function replayContract(under: () => { model: EngineModel; prompts: number[][] }): void {
  const model = (): EngineModel => under().model;
  const prompts = (): number[][] => under().prompts;

  describe('replay', () => {
    const asked = { seed: 11, temperature: 0.8, repetitionPenalty: 1.1, presencePenalty: 0.2, maxOutputTokens: 60 };

    it('goes on as the uninterrupted run did, from any token and whatever runs beside it (BL-27, invariant 11)', async () => {
      const logitBias = Object.fromEntries(model().info.endTokenIds.map((id) => [String(id), -1000]));
      const whole = new Recording(model(), request(prompts()[0]!, { ...asked, logitBias }));
      await whole.ended;
      const runs = [1, 2, 33, 59].map((count) => {
        const replay = whole.log(count);
        return new Recording(model(), request(prompts()[0]!, { ...asked, logitBias, replay }));
      });
      for (const run of runs) {
        const count = 60 - (await run.ended.then(() => run.steps.length));
        expect(await run.ended).toEqual(await whole.ended);
        expect(run.ids).toEqual(whole.ids.slice(count));
        expect(run.steps.map((step) => step.index)).toEqual(whole.steps.slice(count).map((step) => step.index));
        expect([...run.rebuilt, ...run.steps].map((step) => step.text)).toEqual(whole.steps.map((step) => step.text));
        expect(run.replayed).toEqual(Array.from({ length: count }, (_, i) => i + 1));
      }
      expect(runs.map((run) => run.rebuilt.length)).toEqual([1, 2, 33, 59]);
    });

    it('of a log that holds the end makes no step: it ends as the log did', async () => {
      const whole = new Recording(model(), request(prompts()[0]!));
      await whole.ended;
      for (const end of [
        { replay: whole.log(whole.steps.length) },
        { replay: whole.log(3), maxOutputTokens: 3 },
        { replay: whole.log(whole.steps.length - 1), stop: [whole.text.trim().slice(-3)] },
      ]) {
        const run = new Recording(model(), request(prompts()[0]!, end));
        expect(await run.ended).toEqual({ outcome: 'finished', finish: 'maxOutputTokens' in end ? 'limit' : 'stop' });
        expect(run.steps).toEqual([]);
        expect(run.rebuilt).toHaveLength(end.replay.length);
        expect(run.rebuilt.map((step) => step.finish !== null)).toEqual(
          end.replay.map((_, i) => i + 1 === end.replay.length),
        );
      }
    });

    it('of an empty log is a beginning', async () => {
      const whole = new Recording(model(), request(prompts()[0]!));
      const run = new Recording(model(), request(prompts()[0]!, { replay: [] }));
      await Promise.all([whole.ended, run.ended]);
      expect(run.ids).toEqual(whole.ids);
      expect(run.rebuilt).toEqual([]);
    });

    it('can be cancelled on its way, and does not wait for acknowledgements', async () => {
      const whole = new Recording(model(), endlessRequest(model(), prompts()[0]!, 3 * STEP_WINDOW));
      await whole.ended;
      const replay = whole.log(2 * STEP_WINDOW);
      const resumed = { ...endlessRequest(model(), prompts()[0]!, 3 * STEP_WINDOW), replay };
      const run = new Recording(model(), resumed, { acknowledging: false });
      await waitFor('a full window behind the log', () => run.steps.length === STEP_WINDOW);
      expect(run.ids).toEqual(whole.ids.slice(2 * STEP_WINDOW));
      const other = new Recording(model(), { ...resumed, id: 'given-up', maxOutputTokens: 1000 });
      await waitFor('a token of the log', () => other.replayed.length > 0);
      other.generation.cancel();
      expect(await other.ended).toEqual({ outcome: 'cancelled' });
    });

    it('refuses an id that no vocabulary has', () => {
      const replay = [{ tokenId: model().info.vocabularySize, kernelClass: 'alone' as const }];
      expect(() => new Recording(model(), request(prompts()[0]!, { replay }))).toThrow(
        expect.objectContaining({ code: 'invalid_value' }),
      );
    });

    it('says what holds on this machine', () => {
      expect(model().info.exact.resume).toBe(true);
      expect(model().info.exact.batchInvariant).toBe(model().info.kernelClasses === 1);
    });
  });
}
