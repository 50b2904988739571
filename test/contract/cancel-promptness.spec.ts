import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TurnReport } from '../../src/inference/generation/turn-report.js';
import { openModel, type OpenedModel } from '../../src/inference/onnx/open-model.js';
import { RunnerSession } from '../../src/inference/runner-session.js';
import { GOLDEN, POCKET } from './pocket.js';
import { request } from './recording.js';

const PROMPT_TOKENS = 1900;
const CHUNKS = Math.ceil(PROMPT_TOKENS / 128);

let opened: OpenedModel;
beforeAll(async () => {
  opened = await openModel({ ...POCKET, threads: 1 }, () => undefined);
});

const filler = GOLDEN[0]!.promptIds;
const longPrompt = Array.from({ length: PROMPT_TOKENS }, (_, i) => filler[i % filler.length]!);

/** The runner's side on the real model, in this process, so that every run of the model is counted. */
class CountedRunner {
  chunks = 0;
  steps = 0;
  /** Called inside each run of the model, while it computes. */
  onRun: () => void = () => undefined;
  onReport: () => void = () => undefined;
  readonly reports: TurnReport[] = [];
  private readonly session: RunnerSession;
  private end: () => void = () => undefined;

  constructor() {
    const { model, decoder, rules } = opened;
    const counted = Object.assign(Object.create(model) as typeof model, {
      prefill: (...parameters: Parameters<typeof model.prefill>) => {
        this.chunks += 1;
        const run = model.prefill(...parameters);
        this.onRun();
        return run;
      },
      decode: (...parameters: Parameters<typeof model.decode>) => {
        this.steps += 1;
        const run = model.decode(...parameters);
        this.onRun();
        return run;
      },
    });
    this.session = new RunnerSession({
      model: counted,
      decoder,
      rules,
      rows: 2,
      send: (message) => {
        if (message.kind !== 'report') return;
        this.reports.push(message.report);
        for (const [id, step] of message.report.steps) {
          this.session.handle({ kind: 'acknowledge', steps: [[id, step.index]] });
        }
        if (message.report.ended.length > 0) this.end();
        this.onReport();
      },
      pause: () => nextTurn(),
    });
  }

  async run(promptIds: number[]): Promise<void> {
    const ended = new Promise<void>((resolve) => (this.end = resolve));
    const endTokens = Object.fromEntries(opened.info.endTokenIds.map((id) => [String(id), -1000]));
    this.session.handle({ kind: 'generate', request: request(promptIds, { id: 'one', logitBias: endTokens }) });
    await ended;
  }

  cancel(): void {
    this.session.handle({ kind: 'cancel', id: 'one' });
  }

  get ends(): unknown[] {
    return this.reports.flatMap(({ ended }) => ended);
  }
}

const CANCELLED = [['one', { outcome: 'cancelled' }]];

describe('a cancel on the real engine, counted in runs of the model', () => {
  it.each([1, 2, 7, CHUNKS - 1])(
    'WIRE B4: in the middle of prompt chunk %i of a 1,900-token prompt: that chunk is the last one',
    async (chunk) => {
      const runner = new CountedRunner();
      runner.onRun = () => {
        if (runner.chunks === chunk) runner.cancel();
      };
      await runner.run(longPrompt);
      expect(runner.ends).toEqual(CANCELLED);
      expect([runner.chunks, runner.steps]).toEqual([chunk, 0]);
    },
  );

  it.each([1, 5])('WIRE B4: between prompt chunks %i and the next: no other begins', async (chunk) => {
    const runner = new CountedRunner();
    runner.onReport = () => {
      if (runner.chunks === chunk && runner.ends.length === 0) runner.cancel();
    };
    await runner.run(longPrompt);
    expect(runner.ends).toEqual(CANCELLED);
    expect([runner.chunks, runner.steps]).toEqual([chunk, 0]);
  });

  it.each([1, 12])('WIRE B4: in the middle of decode step %i: that step is the last one', async (step) => {
    const runner = new CountedRunner();
    runner.onRun = () => {
      if (runner.steps === step) runner.cancel();
    };
    await runner.run(filler);
    expect(runner.ends).toEqual(CANCELLED);
    expect(runner.steps).toBe(step);
  });
});
