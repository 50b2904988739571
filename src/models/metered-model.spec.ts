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
      prefilled: (tokens) => void heard.push(`prefilled ${tokens}`),
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
    listener.prefilled?.(128);
    listener.prefilled?.(140);
    listener.replayed?.(5);
    listener.step({ ...STEP, index: 5 });
    listener.step({ ...STEP, index: 6 });
    expect(figures).toEqual([]);
    end({ outcome: 'finished', finish: 'stop' });
    await ended;
    expect(figures).toMatchObject([{ outcome: 'finished', promptTokens: 140, outputTokens: 2, replayedTokens: 5 }]);
    expect(figures[0]?.firstTokenMs).toBeGreaterThanOrEqual(1000);
    expect(figures[0]?.decodeMs).toBeGreaterThanOrEqual(0);
    expect(heard).toEqual(['rebuilt 1', 'prefilled 128', 'prefilled 140', 'replayed 5', 'step 5', 'step 6']);
  });

  it('has no time to a first token where there was none', async () => {
    const { end, ended, figures } = play();
    end({ outcome: 'lost', message: 'gone', alone: true });
    await ended;
    expect(figures).toEqual([
      { outcome: 'lost', promptTokens: 0, outputTokens: 0, replayedTokens: 0, firstTokenMs: null, decodeMs: 0 },
    ]);
  });
});
