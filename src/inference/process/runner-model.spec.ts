import { describe, expect, it } from 'vitest';
import type { EngineModelInfo, Generation, GenerationRequest, GenerationStep } from '../inference-engine.js';
import type { FromRunner, ToRunner } from '../runner-protocol.js';
import { RunnerModel, type RunnerLink } from './runner-model.js';

const INFO: EngineModelInfo = {
  contextLength: 100,
  vocabularySize: 10,
  kvMode: 'in-place',
  endTokenIds: [0],
  residentBytes: 1,
  fingerprint: '',
  kernelClasses: 1,
  exact: { resume: true, batchInvariant: true },
  provider: { used: 'cpu', reason: null },
  digest: '',
  warnings: [],
};
const REQUEST: GenerationRequest = {
  id: 'g',
  promptIds: [1],
  seed: 0,
  sampling: {
    temperature: 0,
    topK: 0,
    topP: 1,
    minP: 0,
    repetitionPenalty: 1,
    presencePenalty: 0,
    frequencyPenalty: 0,
    logitBias: {},
  },
  stop: [],
  maxOutputTokens: 10,
};
const STEP: GenerationStep = { index: 0, tokenId: 1, kernelClass: 'alone', text: 'a', finish: null };

/** A runner played by the test: says only what it is told to. */
class PlayedRunner implements RunnerLink {
  readonly sent: ToRunner[] = [];
  readonly gone: Promise<string>;
  receive!: (message: FromRunner) => void;
  private end!: (how: string) => void;

  constructor() {
    this.gone = new Promise((resolve) => (this.end = resolve));
  }
  send(message: ToRunner): void {
    this.sent.push(message);
  }
  onMessage(receive: (message: FromRunner) => void): void {
    this.receive = receive;
  }
  kill(): void {
    this.end('killed');
  }
  report(received: number, steps: [string, GenerationStep][] = []): void {
    this.receive({
      kind: 'report',
      prefixBytes: 0,
      received,
      report: { prefilled: [], rebuilt: [], replayed: [], steps, ended: [], idle: true },
    });
  }
}

function start(stallSeconds: number): { runner: PlayedRunner; model: RunnerModel } {
  const runner = new PlayedRunner();
  return { runner, model: new RunnerModel(INFO, runner, { stallSeconds, rows: 2, maxGenerations: 4 }) };
}

describe('the service side of a runner', () => {
  it('does not take "idle" for an answer to a message the runner has not seen yet', async () => {
    const { runner, model } = start(0.02);
    const generation = model.generate(REQUEST, { step: () => undefined });
    runner.report(0);
    expect(await generation.ended).toMatchObject({ outcome: 'lost', message: /no progress/ });
  });

  it('says whether it was ended for making no progress', async () => {
    const { model } = start(0.02);
    model.generate(REQUEST, { step: () => undefined });
    expect(await model.gone).toMatchObject({ expected: false, stalled: true });
    const other = start(60);
    other.runner.kill();
    expect(await other.model.gone).toMatchObject({ expected: false, stalled: false, message: 'killed' });
  });

  it('sends what was acknowledged in one turn as one message, highest index each', async () => {
    const { runner, model } = start(60);
    const generation = model.generate(REQUEST, { step: ({ index }) => generation.acknowledge(index) });
    runner.report(1, [
      ['g', STEP],
      ['g', { ...STEP, index: 1 }],
    ]);
    await new Promise(setImmediate);
    expect(runner.sent.filter((message) => message.kind === 'acknowledge')).toEqual([
      { kind: 'acknowledge', steps: [['g', 1]] },
    ]);
    await model.close();
  });

  it('hands on nothing that comes after the end', async () => {
    const { runner, model } = start(60);
    const steps: GenerationStep[] = [];
    const generation = model.generate(REQUEST, { step: (step) => steps.push(step) });
    await model.close();
    runner.report(1, [['g', STEP]]);
    expect(await generation.ended).toEqual({ outcome: 'lost', message: 'killed', alone: true });
    expect(steps).toEqual([]);
  });

  describe('of whom it says that it is to blame for the loss (WIRE B6)', () => {
    const lost = async (
      requests: GenerationRequest[],
      before: (run: Record<string, Generation>) => void = () => undefined,
    ): Promise<[Record<string, boolean>, boolean]> => {
      const { runner, model } = start(60);
      const runs = Object.fromEntries(
        requests.map((request) => [request.id, model.generate(request, { step: () => undefined })]),
      );
      before(runs);
      runner.kill();
      const ends = await Promise.all(
        Object.entries(runs).map(async ([id, { ended }]): Promise<[string, boolean]> => {
          const end = await ended;
          return [id, end.outcome === 'lost' && end.alone];
        }),
      );
      return [Object.fromEntries(ends), (await model.gone).blamed];
    };
    const named = (id: string, alone = false): GenerationRequest => ({ ...REQUEST, id, alone });

    it('nobody where there was nobody or several', async () => {
      expect(await lost([])).toEqual([{}, false]);
      expect(await lost([named('a'), named('b')])).toEqual([{ a: false, b: false }, false]);
    });

    it('the only one there', async () => {
      expect(await lost([named('a')])).toEqual([{ a: true }, true]);
    });

    it('the one that ran alone while others were paused, until it shares', async () => {
      expect(await lost([named('a'), named('b', true)])).toEqual([{ a: false, b: true }, true]);
      const shared = await lost([named('a'), named('b', true)], ({ b }) => b?.share());
      expect(shared).toEqual([{ a: false, b: false }, false]);
    });
  });
});
