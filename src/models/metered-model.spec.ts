import { describe, expect, it } from 'vitest';
import type {
  EngineModel,
  GenerationEnd,
  GenerationListener,
  GenerationRequest,
  GenerationStep,
} from '../inference/index.js';
import { MeteredModel, type GenerationFigures } from './metered-model.js';

const STEP: GenerationStep = { index: 0, tokenId: 1, kernelClass: 'alone', text: 'a', finish: null };

/** A seat's model whose generation the test plays; `heard` is what the listener of the generation got. */
function play(since = performance.now()) {
  const figures: GenerationFigures[] = [];
  const heard: string[] = [];
  const made = {} as { listener: GenerationListener; end: (end: GenerationEnd) => void };
  const model = {
    generate: (_: GenerationRequest, listener: GenerationListener) => {
      const ended = new Promise<GenerationEnd>((resolve) => Object.assign(made, { listener, end: resolve }));
      return { ended, cancel: () => undefined, acknowledge: () => undefined };
    },
  } as unknown as EngineModel;
  const { ended } = new MeteredModel(model, since, (told) => void figures.push(told)).generate(
    {} as GenerationRequest,
    {
      prefilled: (tokens, reused) => void heard.push(`prefilled ${tokens}, ${reused} reused`),
      rebuilt: (steps) => void heard.push(`rebuilt ${steps.length}`),
      replayed: (tokens) => void heard.push(`replayed ${tokens}`),
      step: ({ index }) => void heard.push(`step ${index}`),
    },
  );
  return { ...made, ended, figures, heard };
}

describe('what is measured of a generation (OPERATE 3.2)', () => {
  it('is its tokens and its times, told once at its end; the listener hears all of it', async () => {
    const { listener, end, ended, figures, heard } = play(performance.now() - 1000);
    listener.rebuilt?.([{ text: 'a', finish: null }]);
    listener.prefilled?.(128, 64);
    listener.prefilled?.(140, 64);
    listener.replayed?.(5);
    listener.step({ ...STEP, index: 5 });
    listener.step({ ...STEP, index: 6 });
    expect(figures).toEqual([]);
    end({ outcome: 'finished', finish: 'stop' });
    await ended;
    const counts = { promptTokens: 140, cachedTokens: 64, outputTokens: 2, replayedTokens: 5 };
    expect(figures).toMatchObject([{ outcome: 'finished', ...counts }]);
    expect(figures[0]?.firstTokenMs).toBeGreaterThanOrEqual(1000);
    expect(figures[0]?.decodeMs).toBeGreaterThanOrEqual(0);
    const prefilled = ['prefilled 128, 64 reused', 'prefilled 140, 64 reused'];
    expect(heard).toEqual(['rebuilt 1', ...prefilled, 'replayed 5', 'step 5', 'step 6']);
  });

  it('has no time to a first token where there was none', async () => {
    const { end, ended, figures } = play();
    end({ outcome: 'lost', message: 'gone', alone: true });
    await ended;
    const counts = { promptTokens: 0, cachedTokens: 0, outputTokens: 0, replayedTokens: 0 };
    expect(figures).toEqual([{ outcome: 'lost', ...counts, firstTokenMs: null, decodeMs: 0 }]);
  });
});
